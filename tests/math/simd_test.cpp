// Every back end of simd.h gives the bits of the scalar twin.
#include "math/simd.h"

#include "base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace talus {
namespace {

constexpr float kOdd[] = {0.0f,
                          -0.0f,
                          1.0f,
                          -1.0f,
                          1e-42f,
                          -1e-42f,
                          3e38f,
                          -3e38f,
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(),
                          0.1f,
                          1234.567f};

struct Inputs {
    float a[8], b[8];
};

Inputs inputs(std::uint64_t seed) {
    Inputs in;
    for (int k = 0; k < 8; k++) {
        const std::uint64_t x = mix64(seed * 16 + std::uint64_t(k)), y = mix64(x + 99);
        in.a[k] = x % 3 == 0 ? kOdd[x / 3 % std::size(kOdd)] : float(double(x >> 11) * 1e-13 - 400);
        in.b[k] = y % 3 == 0 ? kOdd[y / 3 % std::size(kOdd)] : float(double(y >> 11) * 1e-13 - 400);
    }
    return in;
}

/// NaNs differ in sign and payload between machines; they are one value here.
std::uint32_t bits_of(float x) { return std::isnan(x) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(x); }

template <class A, class B>
void expect_same(const A& native, const B& scalar, const char* what) {
    float n[8], s[8];
    store(n, native);
    store(s, scalar);
    for (int k = 0; k < 8; k++) EXPECT_EQ(bits_of(n[k]), bits_of(s[k])) << what << " lane " << k;
}

TEST(Simd, SameBitsAsTheScalarTwin) {
    for (std::uint64_t seed = 1; seed < 2000; seed++) {
        const Inputs in = inputs(seed);
        const auto a = simd::load(in.a), b = simd::load(in.b);
        const auto p = simd_scalar::load(in.a), q = simd_scalar::load(in.b);
        expect_same(a + b, p + q, "+");
        expect_same(a - b, p - q, "-");
        expect_same(a * b, p * q, "*");
        expect_same(a / b, p / q, "/");
        expect_same(-a, -p, "negate");
        expect_same(min(a, b), min(p, q), "min");
        expect_same(max(a, b), max(p, q), "max");
        expect_same(sqrt(a), sqrt(p), "sqrt");
        expect_same(abs(a), abs(p), "abs");
        expect_same(select(a > b, a, b), select(p > q, p, q), "select >");
        expect_same(keep((a <= b) | (a > b), a), keep((p <= q) | (p > q), p), "keep |");
        expect_same(keep((a <= b) & (b > a), a), keep((p <= q) & (q > p), p), "keep &");
        EXPECT_EQ(bits(a > b), bits(p > q));
        EXPECT_EQ(bits(a <= b), bits(p <= q));
    }
}

TEST(Simd, Transposes) {
    Float8 rows[8];
    for (int i = 0; i < 8; i++) {
        float r[8];
        for (int j = 0; j < 8; j++) r[j] = float(10 * i + j);
        rows[i] = simd::load(r);
    }
    transpose(rows);
    for (int i = 0; i < 8; i++) {
        float r[8];
        simd::store(r, rows[i]);
        for (int j = 0; j < 8; j++) EXPECT_EQ(r[j], float(10 * j + i));
    }
}

TEST(Simd, MovesLanes) {
    const float in[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const Float8 a = simd::load(in);
    const auto expect = [](Float8 got, std::initializer_list<float> want) {
        float r[8];
        simd::store(r, got);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), r));
    };
    expect(lanes<1, 2, 0, 3>(a), {1, 2, 0, 3, 5, 6, 4, 7});
    expect(lanes<2, 2, 2, 2>(a), {2, 2, 2, 2, 6, 6, 6, 6});
    expect(swap_halves(a), {4, 5, 6, 7, 0, 1, 2, 3});
    expect(low_twice(a), {0, 1, 2, 3, 0, 1, 2, 3});
    expect(high_twice(a), {4, 5, 6, 7, 4, 5, 6, 7});
    expect(simd::load_twice(in + 2), {2, 3, 4, 5, 2, 3, 4, 5});
    expect(simd::load_halves(in + 2, in + 1), {2, 3, 4, 5, 1, 2, 3, 4});
    expect(without_low(a), {0, 0, 0, 0, 4, 5, 6, 7});
    expect(without_high(a), {0, 1, 2, 3, 0, 0, 0, 0});
}

TEST(Simd, FourDoubles) {
    const double in[4] = {0.1, -2, 1e300, 3};
    const float narrow[4] = {0.1f, -2, 5, 3};
    const auto expect = [](Double4 got, std::initializer_list<double> want) {
        double r[4];
        simd4::store4(r, got);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), r));
    };
    const Double4 a = simd4::load4(in), b = simd4::load4(narrow);
    expect(a + b, {0.1 + double(0.1f), -4, 1e300, 6});
    expect(a - b, {0.1 - double(0.1f), 0, 1e300, 0});
    expect(b * b, {double(0.1f) * double(0.1f), 4, 25, 9});
    expect(lanes<1, 2, 0, 3>(b), {-2, 5, double(0.1f), 3});
    expect(simd4::splat4(7), {7, 7, 7, 7});
    float r[4];
    simd4::store4(r, b);
    EXPECT_TRUE(std::equal(narrow, narrow + 4, r));

    expect(b / simd4::splat4(4), {double(0.1f) / 4, -0.5, 1.25, 0.75});
    expect(min(a, b), {0.1, -2, 5, 3});
    expect(max(a, b), {double(0.1f), -2, 1e300, 3});
    EXPECT_EQ(differ(a, b), 0b0101);
    EXPECT_EQ(differ(simd4::splat4(0.0), simd4::splat4(-0.0)), 15);
    EXPECT_EQ(above(a, b), 0b0100);
    expect(simd4::gather4(in + 3, in + 3, in, in + 1), {3, 3, 0.1, -2});
    double out[4] = {};
    simd4::scatter4(out + 2, out, out + 3, out + 1, b);
    EXPECT_TRUE(std::equal(out, out + 4, std::array{-2.0, 3.0, double(0.1f), 5.0}.begin()));
    const Shift4 shift = simd4::shift4(63, 0, 62, 61);
    expect(keep_at(0x8000000000000005u, shift, b), {double(0.1f), -2, 0, 3});
    expect(keep_at(0x8000000000000005u, shift, a) | keep_at(2, shift, b), {0.1, -2, 5, 3});
}

TEST(Simd, LoadsMasks) {
    const std::int32_t m[8] = {0, -1, 0, 0, -1, -1, 0, -1};
    EXPECT_EQ(bits(simd::load_mask(m)), 0b10110010);
}

}  // namespace
}  // namespace talus
