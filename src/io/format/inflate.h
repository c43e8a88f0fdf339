// inflate.h - gzip and zlib data, unpacked into memory up to a limit; and packed.
//
// Layer: io/format. Source: RFC 1950, 1951, 1952, by zlib. Tests: tests/io/inflate_test.cpp
#pragma once

#include "talus/result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace talus {

/// True for the first bytes of gzip or zlib data.
bool looks_deflated(std::span<const std::uint8_t> bytes);

/// @param limit  of the unpacked size: more is ErrorCode::too_large, found before memory is taken for it
/// @return truncated when the data ends before its end marker and checksum; corrupt when they disagree.
///         Bytes behind the end are ignored.
Result<std::vector<std::uint8_t>> inflate_all(std::span<const std::uint8_t> bytes, std::string_view where,
                                              std::size_t limit);

/// The same input gives the same bytes with one version of zlib: no name, no time in the header.
Result<std::vector<std::uint8_t>> gzip_all(std::span<const std::uint8_t> bytes);

}  // namespace talus
