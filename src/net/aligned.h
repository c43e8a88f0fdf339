// aligned.h - FlatBuffers reads numbers in place: a message has to begin where the widest of them may.
//
// Layer: net.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace talus {

class AlignedBytes {
 public:
    explicit AlignedBytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % sizeof(std::uint64_t) == 0) return;
        copy_.resize((bytes.size() + 7) / 8);
        if (!bytes.empty()) std::memcpy(copy_.data(), bytes.data(), bytes.size());
        bytes_ = {reinterpret_cast<const std::uint8_t*>(copy_.data()), bytes.size()};
    }
    AlignedBytes(const AlignedBytes&) = delete;
    AlignedBytes& operator=(const AlignedBytes&) = delete;
    std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
    std::span<const std::uint8_t> bytes_;
    std::vector<std::uint64_t> copy_;
};

}  // namespace talus
