// temporary_folder.h - a folder of its own for a test: tests run side by side, so none may name a fixed file.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace talus {

/// Made empty, removed with all that is in it.
class TemporaryFolder {
 public:
    TemporaryFolder() {
        std::string form = (std::filesystem::temp_directory_path() / "talus-test-XXXXXX").string();
        if (!mkdtemp(form.data())) throw std::runtime_error("cannot make a temporary folder");
        path_ = form;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
    std::filesystem::path path_;
};

}  // namespace talus
