// result.h - a value or an error, without exceptions.
//
// Layer: base. Foreign data (files, packets, host input) never asserts: it comes back as a
// Result whose error says what is wrong and where. A caller's own bug asserts instead.
// Tests: tests/base/result_test.cpp
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace talus {

enum class ErrorCode : std::uint8_t {
    not_found,    ///< no such file or entry
    unreadable,   ///< the operating system refused
    bad_format,   ///< not this format at all
    truncated,    ///< ends before its own lengths say
    corrupt,      ///< contradicts itself
    too_large,    ///< over a documented limit
    unsupported,  ///< a version or feature we do not read
    bad_value,    ///< a number or name outside its range
};

/// What went wrong, in words for the person who has to mend it: names the thing and the place.
struct Error {
    ErrorCode code = ErrorCode::bad_value;
    std::string message;
};

template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    /// Pre (assert): ok().
    T& value() {
        assert(ok());
        return *std::get_if<0>(&state_);
    }
    const T& value() const {
        assert(ok());
        return *std::get_if<0>(&state_);
    }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    /// Pre (assert): !ok().
    const E& error() const {
        assert(!ok());
        return *std::get_if<1>(&state_);
    }

 private:
    std::variant<T, E> state_;
};

}  // namespace talus
