// archive.h - plain data as bytes and back: one list of fields serves writing, reading and limits.
//
// Layer: base. Little-endian, no padding, no pointers; the same bytes on every machine.
// A type joins in with a function `template <class A> void archive(A& a, T& v) { a(v.x, v.y); }` beside it,
// or a static member of that name where fields are private; T is const when writing. `A::kReading` tells
// which. Reading never trusts: a count makes no memory before the bytes behind it are there, the first thing
// that is wrong is kept with its place, and from then on every read gives zero. Tests:
// tests/base/archive_test.cpp
#pragma once

#include "base/hash.h"
#include "talus/result.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace talus {

using ByteSpan = std::span<const std::uint8_t>;

/// Of bytes; not cryptographic: it finds damage, not malice.
inline std::uint64_t checksum(ByteSpan bytes, std::uint64_t start = 0) {
    BitHash hash;
    hash.add(start);
    hash.add(std::uint64_t(bytes.size()));
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        for (std::size_t k = i; k < i + 8 && k < bytes.size(); k++)
            word |= std::uint64_t(bytes[k]) << (8 * (k - i));
        hash.add(word);
    }
    return hash.value();
}

class ByteWriter {
 public:
    static constexpr bool kReading = false;
    std::vector<std::uint8_t> bytes;

    template <class... T>
    void operator()(const T&... values) {
        (put(values), ...);
    }
    void raw(ByteSpan more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
    /// A length that limits what follows it.
    void size(std::size_t n) { put(std::uint32_t(n)); }
    /// Values outside of [lowest, highest] are refused on reading.
    template <class T>
    void limited(const char*, const T& value, double, double) {
        put(value);
    }

 private:
    template <class T>
    void put(const T& v) {
        if constexpr (std::is_same_v<T, bool>) {
            bytes.push_back(v ? 1 : 0);
        } else if constexpr (std::is_enum_v<T>) {
            put(static_cast<std::underlying_type_t<T>>(v));
        } else if constexpr (std::is_same_v<T, float>) {
            put(std::bit_cast<std::uint32_t>(v));
        } else if constexpr (std::is_same_v<T, double>) {
            put(std::bit_cast<std::uint64_t>(v));
        } else if constexpr (std::is_integral_v<T>) {
            for (std::size_t i = 0; i < sizeof(T); i++)
                bytes.push_back(std::uint8_t(std::make_unsigned_t<T>(v) >> (8 * i)));
        } else if constexpr (requires { T::archive(*this, v); }) {
            T::archive(*this, v);
        } else {
            archive(*this, v);
        }
    }
};

class ByteReader {
 public:
    static constexpr bool kReading = true;
    /// Snapshots hold no such number; calls of a recording may.
    bool allow_not_finite = false;
    /// Real numbers beyond are refused, so that what is worked out from them stays finite.
    double most = std::numeric_limits<double>::infinity();

    explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

    bool ok() const { return !failure_; }
    /// Pre (assert): !ok().
    const Error& error() const {
        assert(failure_);
        return *failure_;
    }
    std::size_t offset() const { return at_; }
    std::size_t left() const { return ok() ? bytes_.size() - at_ : 0; }

    /// Names what is being read, for messages; a literal.
    void part(const char* name, std::size_t number = 0) {
        part_ = name;
        number_ = number;
    }
    void fail(ErrorCode code, const std::string& what) {
        if (failure_) return;
        std::string text = part_;
        if (number_) {
            text += ' ';
            text += std::to_string(number_);
        }
        text += ", byte ";
        text += std::to_string(at_);
        text += ": ";
        text += what;
        failure_ = Error{code, std::move(text)};
    }
    void check(bool right, const char* otherwise) {
        if (!right) fail(ErrorCode::corrupt, otherwise);
    }

    template <class... T>
    void operator()(T&... values) {
        (take(values), ...);
    }
    template <class T>
    T get() {
        T v{};
        take(v);
        return v;
    }
    ByteSpan raw(std::size_t n) {
        if (n > left()) {
            fail(ErrorCode::truncated, "ends too early");
            return {};
        }
        at_ += n;
        return bytes_.subspan(at_ - n, n);
    }
    /// @return a length; 0 when there cannot be so many, each of at least `least` bytes
    std::size_t size(std::size_t least = 1) {
        const std::size_t n = get<std::uint32_t>();
        if (n * least <= left()) return n;
        fail(ErrorCode::truncated, "a list is longer than what is left");
        return 0;
    }
    template <class T>
    void limited(const char* name, T& value, double lowest, double highest) {
        take(value);
        bool inside = true;
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            if constexpr (!std::is_same_v<T, std::uint64_t>)
                inside = double(value) >= lowest && double(value) <= highest;
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
            inside = !value || (*value >= lowest && *value <= highest);
        }
        if (!inside) fail(ErrorCode::bad_value, std::string(name) + " is out of range");
    }

 private:
    template <class T>
    void take(T& v) {
        if constexpr (std::is_same_v<T, bool>) {
            const auto byte = get<std::uint8_t>();
            check(byte <= 1, "a yes or no is neither");
            v = byte == 1;
        } else if constexpr (std::is_enum_v<T>) {
            v = static_cast<T>(get<std::underlying_type_t<T>>());
        } else if constexpr (std::is_same_v<T, float>) {
            v = finite(std::bit_cast<float>(get<std::uint32_t>()));
        } else if constexpr (std::is_same_v<T, double>) {
            v = finite(std::bit_cast<double>(get<std::uint64_t>()));
        } else if constexpr (std::is_integral_v<T>) {
            std::make_unsigned_t<T> u = 0;
            const ByteSpan from = raw(sizeof(T));
            for (std::size_t i = 0; i < from.size(); i++)
                u = std::make_unsigned_t<T>(u | std::make_unsigned_t<T>(from[i]) << (8 * i));
            v = T(u);
        } else if constexpr (requires { T::archive(*this, v); }) {
            T::archive(*this, v);
        } else {
            archive(*this, v);
        }
    }
    template <class F>
    F finite(F x) {
        if (!allow_not_finite && !std::isfinite(x))
            fail(ErrorCode::bad_value, "a number is not finite");
        else if (std::fabs(double(x)) > most)
            fail(ErrorCode::bad_value, "a number is too large");
        else
            return x;
        return 0;
    }

    ByteSpan bytes_;
    std::size_t at_ = 0, number_ = 0;
    const char* part_ = "start";
    std::optional<Error> failure_;
};

// --- of the standard library

template <class A, class S>
requires std::is_same_v<std::remove_const_t<S>, std::string>
void archive(A& a, S& s) {
    if constexpr (A::kReading) {
        const ByteSpan bytes = a.raw(a.size());
        s.assign(bytes.begin(), bytes.end());
    } else {
        a.size(s.size());
        for (const char c : s) a(std::uint8_t(c));
    }
}

template <class T>
void archive(ByteWriter& a, const std::optional<T>& v) {
    a(v.has_value());
    if (v) a(*v);
}
template <class T>
void archive(ByteReader& a, std::optional<T>& v) {
    v.reset();
    if (a.template get<bool>()) v = a.template get<T>();
}

template <class T>
void archive(ByteWriter& a, std::span<const T> list) {
    a.size(list.size());
    for (const auto& v : list) a(v);
}
template <class T>
void archive(ByteWriter& a, const std::vector<T>& list) {
    archive(a, std::span<const T>(list));
}
template <class T>
void archive(ByteReader& a, std::vector<T>& list) {
    list.clear();
    const std::size_t n = a.size();
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        T v{};
        a(v);
        list.push_back(std::move(v));
    }
}

template <class U, class V>
void archive(ByteWriter& a, const std::pair<U, V>& p) {
    a(p.first, p.second);
}
template <class U, class V>
void archive(ByteReader& a, std::pair<U, V>& p) {
    a(p.first, p.second);
}

/// Keys in order.
template <class K, class V>
void archive(ByteWriter& a, const std::map<K, V>& map) {
    a.size(map.size());
    for (const auto& [key, value] : map) a(key, value);
}
template <class K, class V>
void archive(ByteReader& a, std::map<K, V>& map) {
    map.clear();
    const std::size_t n = a.size();
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        K key{};
        V value{};
        a(key, value);
        if (!map.empty() && !(map.rbegin()->first < key)) return a.check(false, "keys out of order");
        map.emplace_hint(map.end(), std::move(key), std::move(value));
    }
}

}  // namespace talus
