// run_program.h - runs the talus program as a user would, in a shell, within 4 GiB of address space and 30 s
// of processor time.
#pragma once

#include "build_files.h"
#include "tests/temporary_folder.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TALUS_CLANG_SANITIZED 1
#endif
#endif

namespace talus::files {

/// A folder of its own for a test, and files in it.
class TempFolder : public TemporaryFolder {
 public:
    /// Writes a file there. @return its path
    std::string add(const std::string& name, const Bytes& bytes) const {
        write(*this / name, bytes);
        return file(name);
    }
    std::string add(const std::string& name, std::string_view text) const {
        return add(name, Bytes(text.begin(), text.end()));
    }
};

struct Ran {
    int exit = -1;  ///< exit code; 128 + n when signal n ended it
    std::string out, err;
};

#ifdef TALUS_PROGRAM
inline Ran run_talus(const std::vector<std::string>& arguments) {
    const TempFolder folder;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TALUS_CLANG_SANITIZED)
    std::string line = "ulimit -t 300; exec";  // sanitizers reserve far more address space than they use
#else
    std::string line = "ulimit -v 4194304; ulimit -t 30; exec";
#endif
    auto quote = [](const std::string& text) {
        std::string out = " '";
        for (const char c : text)
            if (c == '\'')
                out += "'\\''";
            else
                out += c;
        return out + "'";
    };
    line += quote(TALUS_PROGRAM);
    for (const std::string& argument : arguments) line += quote(argument);
    line +=
        " >" + quote((folder / "out").string()) + " 2>" + quote((folder / "err").string()) + " </dev/null";
    const int status = std::system(line.c_str());
    Ran ran;
    ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const Bytes out = read(folder / "out"), err = read(folder / "err");
    ran.out.assign(out.begin(), out.end());
    ran.err.assign(err.begin(), err.end());
    return ran;
}
#endif

}  // namespace talus::files
