#include "record_file.h"

#include "common.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace talus {

RecordFile::RecordFile(const std::string& path, std::uint64_t limit)
    : path_(path), file_(std::fopen(path.c_str(), "wb")), limit_(limit) {
    if (!file_) throw BadInput("cannot record to " + path + ": " + std::strerror(errno));
}

RecordFile::~RecordFile() { std::fclose(file_); }

void RecordFile::restart() {
    fault_.clear();
    written_ = 0;
    std::rewind(file_);
    if (ftruncate(fileno(file_), 0) != 0)
        fault_ = path_ + ": cannot be written anew: " + std::strerror(errno);
}

bool RecordFile::write(std::span<const std::uint8_t> bytes) {
    if (!fault_.empty()) return false;
    if (written_ + bytes.size() > limit_)
        fault_ = path_ + ": the recording ends here, at " + grouped(written_) + " of at most " +
                 grouped(limit_) + " bytes; what comes next is not in it";
    else if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size() || std::fflush(file_) != 0)
        fault_ = path_ + ": the recording ends here: " + std::strerror(errno);
    written_ += bytes.size();
    return fault_.empty();
}

}  // namespace talus
