// simd.h - eight floats side by side, or four doubles: the only file with machine intrinsics.
//
// Layer: math. Double4 has AVX2 and the scalar twin. Float8 and Mask8 have one set of operations and four
// back ends: AVX, two halves of SSE2, two halves of WebAssembly simd128, and a plain scalar twin. The twin is
// always compiled (namespace simd_scalar) so that a test can compare bits; TALUS_SCALAR makes it the one in
// use. Determinism: every operation is correctly rounded (+ - * / sqrt) or exact, so all back ends agree to
// the bit. min and max are a < b ? a : b and a > b ? a : b, which is what the machine instructions do with
// NaN and signed zero. Nothing here fuses a multiply and an add, and no reciprocal estimates are used. Tests:
// tests/math/simd_test.cpp
#pragma once

#include <cstdint>
#include <cstring>

#if !defined(TALUS_SCALAR) && defined(__AVX__)
#define TALUS_SIMD_AVX 1
#include <immintrin.h>
#elif !defined(TALUS_SCALAR) && defined(__SSE2__)
#define TALUS_SIMD_HALVES 1
#include <emmintrin.h>
#elif !defined(TALUS_SCALAR) && defined(__wasm_simd128__)
#define TALUS_SIMD_HALVES 1
#include <wasm_simd128.h>
#endif

#define TALUS_INLINE inline __attribute__((always_inline))

namespace talus {

namespace simd_scalar {

struct alignas(32) Float8 {
    float lane[8];
};
struct alignas(32) Mask8 {
    std::uint32_t lane[8];  // all ones or zero
};

TALUS_INLINE Float8 splat(float x) { return {{x, x, x, x, x, x, x, x}}; }
TALUS_INLINE Float8 load(const float* p) {
    Float8 r;
    std::memcpy(&r, p, sizeof r);
    return r;
}
TALUS_INLINE void store(float* p, const Float8& a) { std::memcpy(p, &a, sizeof a); }
TALUS_INLINE Mask8 load_mask(const std::int32_t* p) {
    Mask8 r;
    std::memcpy(&r, p, sizeof r);
    return r;
}

template <class R, class T, class F>
TALUS_INLINE R each_lane(const T& a, const T& b, F f) {
    R r;
    for (int k = 0; k < 8; k++) r.lane[k] = f(a.lane[k], b.lane[k]);
    return r;
}

TALUS_INLINE Float8 operator+(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x + y; });
}
TALUS_INLINE Float8 operator-(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x - y; });
}
TALUS_INLINE Float8 operator*(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x * y; });
}
TALUS_INLINE Float8 operator/(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x / y; });
}
TALUS_INLINE Float8 operator-(Float8 a) {
    return each_lane<Float8>(a, a, [](float x, float) { return -x; });
}
TALUS_INLINE Float8 min(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x < y ? x : y; });
}
TALUS_INLINE Float8 max(Float8 a, Float8 b) {
    return each_lane<Float8>(a, b, [](float x, float y) { return x > y ? x : y; });
}
TALUS_INLINE Float8 sqrt(Float8 a) {
    return each_lane<Float8>(a, a, [](float x, float) { return __builtin_sqrtf(x); });
}
TALUS_INLINE Float8 abs(Float8 a) {
    return each_lane<Float8>(a, a, [](float x, float) { return __builtin_fabsf(x); });
}
TALUS_INLINE Mask8 operator>(Float8 a, Float8 b) {
    return each_lane<Mask8>(a, b, [](float x, float y) { return x > y ? ~0u : 0u; });
}
TALUS_INLINE Mask8 operator<=(Float8 a, Float8 b) {
    return each_lane<Mask8>(a, b, [](float x, float y) { return x <= y ? ~0u : 0u; });
}
TALUS_INLINE Mask8 operator&(Mask8 a, Mask8 b) {
    return each_lane<Mask8>(a, b, [](std::uint32_t x, std::uint32_t y) { return x & y; });
}
TALUS_INLINE Mask8 operator|(Mask8 a, Mask8 b) {
    return each_lane<Mask8>(a, b, [](std::uint32_t x, std::uint32_t y) { return x | y; });
}
/// mask ? a : b
TALUS_INLINE Float8 select(Mask8 mask, Float8 a, Float8 b) {
    Float8 r;
    for (int k = 0; k < 8; k++) r.lane[k] = mask.lane[k] ? a.lane[k] : b.lane[k];
    return r;
}
/// mask ? a : +0
TALUS_INLINE Float8 keep(Mask8 mask, Float8 a) { return select(mask, a, splat(0)); }
/// Bit k is set where lane k is true.
TALUS_INLINE int bits(Mask8 mask) {
    int r = 0;
    for (int k = 0; k < 8; k++) r |= int(mask.lane[k] & 1) << k;
    return r;
}
/// Rows become columns.
TALUS_INLINE void transpose(Float8 (&r)[8]) {
    Float8 t[8];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) t[i].lane[j] = r[j].lane[i];
    for (int i = 0; i < 8; i++) r[i] = t[i];
}

/// Lane k of each half becomes lane {A, B, C, D}[k] of that half.
template <int A, int B, int C, int D>
TALUS_INLINE Float8 lanes(const Float8& a) {
    const float* v = a.lane;
    return {{v[A], v[B], v[C], v[D], v[4 + A], v[4 + B], v[4 + C], v[4 + D]}};
}
TALUS_INLINE Float8 swap_halves(const Float8& a) {
    const float* v = a.lane;
    return {{v[4], v[5], v[6], v[7], v[0], v[1], v[2], v[3]}};
}
/// One half in both.
TALUS_INLINE Float8 low_twice(const Float8& a) {
    const float* v = a.lane;
    return {{v[0], v[1], v[2], v[3], v[0], v[1], v[2], v[3]}};
}
TALUS_INLINE Float8 high_twice(const Float8& a) {
    const float* v = a.lane;
    return {{v[4], v[5], v[6], v[7], v[4], v[5], v[6], v[7]}};
}
/// Four floats in both halves.
TALUS_INLINE Float8 load_twice(const float* p) { return {{p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3]}}; }
/// Four floats in each half.
TALUS_INLINE Float8 load_halves(const float* p, const float* q) {
    return {{p[0], p[1], p[2], p[3], q[0], q[1], q[2], q[3]}};
}
/// Zero in the low or in the high half.
TALUS_INLINE Float8 without_low(const Float8& a) {
    return {{0, 0, 0, 0, a.lane[4], a.lane[5], a.lane[6], a.lane[7]}};
}
TALUS_INLINE Float8 without_high(const Float8& a) {
    return {{a.lane[0], a.lane[1], a.lane[2], a.lane[3], 0, 0, 0, 0}};
}

struct alignas(32) Double4 {
    double lane[4];
};
TALUS_INLINE Double4 splat4(double x) { return {{x, x, x, x}}; }
TALUS_INLINE Double4 load4(const double* p) { return {{p[0], p[1], p[2], p[3]}}; }
TALUS_INLINE Double4 load4(const float* p) {
    return {{double(p[0]), double(p[1]), double(p[2]), double(p[3])}};
}
TALUS_INLINE void store4(double* p, const Double4& a) {
    for (int k = 0; k < 4; k++) p[k] = a.lane[k];
}
/// Rounded to float.
TALUS_INLINE void store4(float* p, const Double4& a) {
    for (int k = 0; k < 4; k++) p[k] = float(a.lane[k]);
}
TALUS_INLINE Double4 operator+(const Double4& a, const Double4& b) {
    return {{a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2], a.lane[3] + b.lane[3]}};
}
TALUS_INLINE Double4 operator-(const Double4& a, const Double4& b) {
    return {{a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2], a.lane[3] - b.lane[3]}};
}
TALUS_INLINE Double4 operator*(const Double4& a, const Double4& b) {
    return {{a.lane[0] * b.lane[0], a.lane[1] * b.lane[1], a.lane[2] * b.lane[2], a.lane[3] * b.lane[3]}};
}
TALUS_INLINE Double4 operator/(const Double4& a, const Double4& b) {
    return {{a.lane[0] / b.lane[0], a.lane[1] / b.lane[1], a.lane[2] / b.lane[2], a.lane[3] / b.lane[3]}};
}
TALUS_INLINE Double4 min(const Double4& a, const Double4& b) {
    Double4 r;
    for (int k = 0; k < 4; k++) r.lane[k] = a.lane[k] < b.lane[k] ? a.lane[k] : b.lane[k];
    return r;
}
TALUS_INLINE Double4 max(const Double4& a, const Double4& b) {
    Double4 r;
    for (int k = 0; k < 4; k++) r.lane[k] = a.lane[k] > b.lane[k] ? a.lane[k] : b.lane[k];
    return r;
}
template <int A, int B, int C, int D>
TALUS_INLINE Double4 lanes(const Double4& a) {
    return {{a.lane[A], a.lane[B], a.lane[C], a.lane[D]}};
}
TALUS_INLINE Double4 gather4(const double* a, const double* b, const double* c, const double* d) {
    return {{*a, *b, *c, *d}};
}
TALUS_INLINE void scatter4(double* a, double* b, double* c, double* d, const Double4& v) {
    *a = v.lane[0];
    *b = v.lane[1];
    *c = v.lane[2];
    *d = v.lane[3];
}
/// The bits of both.
TALUS_INLINE Double4 operator|(const Double4& a, const Double4& b) {
    Double4 r;
    for (int k = 0; k < 4; k++) {
        std::uint64_t x, y;
        std::memcpy(&x, &a.lane[k], 8);
        std::memcpy(&y, &b.lane[k], 8);
        x |= y;
        std::memcpy(&r.lane[k], &x, 8);
    }
    return r;
}
/// One bit a lane.
TALUS_INLINE int differ(const Double4& a, const Double4& b) {
    int r = 0;
    for (int k = 0; k < 4; k++) r |= int(std::memcmp(&a.lane[k], &b.lane[k], 8) != 0) << k;
    return r;
}
TALUS_INLINE int above(const Double4& a, const Double4& b) {
    int r = 0;
    for (int k = 0; k < 4; k++) r |= int(a.lane[k] > b.lane[k]) << k;
    return r;
}

/// Four numbers of 0 .. 63.
struct alignas(32) Shift4 {
    std::uint64_t lane[4];
};
TALUS_INLINE Shift4 shift4(int a, int b, int c, int d) {
    return {{std::uint64_t(a), std::uint64_t(b), std::uint64_t(c), std::uint64_t(d)}};
}
/// The lanes for which the word has bit 63 - shift, the others 0.
TALUS_INLINE Double4 keep_at(std::uint64_t word, const Shift4& shift, const Double4& a) {
    Double4 r;
    for (int k = 0; k < 4; k++) r.lane[k] = word << shift.lane[k] >> 63 ? a.lane[k] : 0;
    return r;
}

}  // namespace simd_scalar

#if defined(TALUS_SIMD_AVX)
namespace simd_native {

struct Float8 {
    __m256 v;
};
struct Mask8 {
    __m256 v;
};

TALUS_INLINE Float8 splat(float x) { return {_mm256_set1_ps(x)}; }
TALUS_INLINE Float8 load(const float* p) { return {_mm256_loadu_ps(p)}; }
TALUS_INLINE void store(float* p, Float8 a) { _mm256_storeu_ps(p, a.v); }
TALUS_INLINE Mask8 load_mask(const std::int32_t* p) {
    Mask8 r;
    std::memcpy(&r, p, sizeof r);
    return r;
}
TALUS_INLINE Float8 operator+(Float8 a, Float8 b) { return {_mm256_add_ps(a.v, b.v)}; }
TALUS_INLINE Float8 operator-(Float8 a, Float8 b) { return {_mm256_sub_ps(a.v, b.v)}; }
TALUS_INLINE Float8 operator*(Float8 a, Float8 b) { return {_mm256_mul_ps(a.v, b.v)}; }
TALUS_INLINE Float8 operator/(Float8 a, Float8 b) { return {_mm256_div_ps(a.v, b.v)}; }
TALUS_INLINE Float8 operator-(Float8 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
TALUS_INLINE Float8 min(Float8 a, Float8 b) { return {_mm256_min_ps(a.v, b.v)}; }
TALUS_INLINE Float8 max(Float8 a, Float8 b) { return {_mm256_max_ps(a.v, b.v)}; }
TALUS_INLINE Float8 sqrt(Float8 a) { return {_mm256_sqrt_ps(a.v)}; }
TALUS_INLINE Float8 abs(Float8 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
TALUS_INLINE Mask8 operator>(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)}; }
TALUS_INLINE Mask8 operator<=(Float8 a, Float8 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
TALUS_INLINE Mask8 operator&(Mask8 a, Mask8 b) { return {_mm256_and_ps(a.v, b.v)}; }
TALUS_INLINE Mask8 operator|(Mask8 a, Mask8 b) { return {_mm256_or_ps(a.v, b.v)}; }
TALUS_INLINE Float8 select(Mask8 m, Float8 a, Float8 b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
TALUS_INLINE Float8 keep(Mask8 m, Float8 a) { return {_mm256_and_ps(m.v, a.v)}; }
TALUS_INLINE int bits(Mask8 m) { return _mm256_movemask_ps(m.v); }
TALUS_INLINE void transpose(Float8 (&r)[8]) {
    // Pairs of rows, then fours, then the two halves.
    __m256 a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_ps(r[2 * i].v, r[2 * i + 1].v);
        a[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i].v, r[2 * i + 1].v);
    }
    for (int i = 0; i < 2; i++) {
        const __m256* q = a + 4 * i;
        b[4 * i + 0] = _mm256_shuffle_ps(q[0], q[2], 0x44);
        b[4 * i + 1] = _mm256_shuffle_ps(q[0], q[2], 0xEE);
        b[4 * i + 2] = _mm256_shuffle_ps(q[1], q[3], 0x44);
        b[4 * i + 3] = _mm256_shuffle_ps(q[1], q[3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
        r[i].v = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        r[i + 4].v = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}

template <int A, int B, int C, int D>
TALUS_INLINE Float8 lanes(Float8 a) {
    return {_mm256_permute_ps(a.v, _MM_SHUFFLE(D, C, B, A))};
}
TALUS_INLINE Float8 swap_halves(Float8 a) { return {_mm256_permute2f128_ps(a.v, a.v, 1)}; }
TALUS_INLINE Float8 low_twice(Float8 a) { return {_mm256_permute2f128_ps(a.v, a.v, 0)}; }
TALUS_INLINE Float8 high_twice(Float8 a) { return {_mm256_permute2f128_ps(a.v, a.v, 0x11)}; }
TALUS_INLINE Float8 load_twice(const float* p) {
    const __m128 half = _mm_loadu_ps(p);
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(half), half, 1)};
}
TALUS_INLINE Float8 load_halves(const float* p, const float* q) {
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(q), 1)};
}
TALUS_INLINE Float8 without_low(Float8 a) { return {_mm256_blend_ps(a.v, _mm256_setzero_ps(), 0x0F)}; }
TALUS_INLINE Float8 without_high(Float8 a) { return {_mm256_blend_ps(a.v, _mm256_setzero_ps(), 0xF0)}; }

#if defined(__AVX2__)
#define TALUS_SIMD_DOUBLE4 1
struct Double4 {
    __m256d v;
};
TALUS_INLINE Double4 splat4(double x) { return {_mm256_set1_pd(x)}; }
TALUS_INLINE Double4 load4(const double* p) { return {_mm256_loadu_pd(p)}; }
TALUS_INLINE Double4 load4(const float* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
TALUS_INLINE void store4(double* p, Double4 a) { _mm256_storeu_pd(p, a.v); }
TALUS_INLINE void store4(float* p, Double4 a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a.v)); }
TALUS_INLINE Double4 operator+(Double4 a, Double4 b) { return {_mm256_add_pd(a.v, b.v)}; }
TALUS_INLINE Double4 operator-(Double4 a, Double4 b) { return {_mm256_sub_pd(a.v, b.v)}; }
TALUS_INLINE Double4 operator*(Double4 a, Double4 b) { return {_mm256_mul_pd(a.v, b.v)}; }
template <int A, int B, int C, int D>
TALUS_INLINE Double4 lanes(Double4 a) {
    return {_mm256_permute4x64_pd(a.v, _MM_SHUFFLE(D, C, B, A))};
}
TALUS_INLINE Double4 operator/(Double4 a, Double4 b) { return {_mm256_div_pd(a.v, b.v)}; }
TALUS_INLINE Double4 min(Double4 a, Double4 b) { return {_mm256_min_pd(a.v, b.v)}; }
TALUS_INLINE Double4 max(Double4 a, Double4 b) { return {_mm256_max_pd(a.v, b.v)}; }
TALUS_INLINE Double4 operator|(Double4 a, Double4 b) { return {_mm256_or_pd(a.v, b.v)}; }
TALUS_INLINE Double4 gather4(const double* a, const double* b, const double* c, const double* d) {
    const __m128d low = _mm_loadh_pd(_mm_load_sd(a), b), high = _mm_loadh_pd(_mm_load_sd(c), d);
    return {_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1)};
}
TALUS_INLINE void scatter4(double* a, double* b, double* c, double* d, Double4 v) {
    const __m128d low = _mm256_castpd256_pd128(v.v), high = _mm256_extractf128_pd(v.v, 1);
    _mm_storel_pd(a, low);
    _mm_storeh_pd(b, low);
    _mm_storel_pd(c, high);
    _mm_storeh_pd(d, high);
}
TALUS_INLINE int differ(Double4 a, Double4 b) {
    const __m256i same = _mm256_cmpeq_epi64(_mm256_castpd_si256(a.v), _mm256_castpd_si256(b.v));
    return _mm256_movemask_pd(_mm256_castsi256_pd(same)) ^ 15;
}
TALUS_INLINE int above(Double4 a, Double4 b) {
    return _mm256_movemask_pd(_mm256_cmp_pd(a.v, b.v, _CMP_GT_OQ));
}
struct Shift4 {
    __m256i v;
};
TALUS_INLINE Shift4 shift4(int a, int b, int c, int d) {
    return {_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(a | b << 8 | c << 16 | d << 24))};
}
TALUS_INLINE Double4 keep_at(std::uint64_t word, Shift4 shift, Double4 a) {
    const __m256i high = _mm256_sllv_epi64(_mm256_set1_epi64x(static_cast<long long>(word)), shift.v);
    return {_mm256_blendv_pd(_mm256_setzero_pd(), a.v, _mm256_castsi256_pd(high))};
}
#endif

}  // namespace simd_native

#elif defined(TALUS_SIMD_HALVES)
namespace simd_native {

#if defined(__SSE2__)
using Half = __m128;
TALUS_INLINE Half half_splat(float x) { return _mm_set1_ps(x); }
TALUS_INLINE Half half_load(const float* p) { return _mm_loadu_ps(p); }
TALUS_INLINE void half_store(float* p, Half a) { _mm_storeu_ps(p, a); }
TALUS_INLINE Half half_add(Half a, Half b) { return _mm_add_ps(a, b); }
TALUS_INLINE Half half_sub(Half a, Half b) { return _mm_sub_ps(a, b); }
TALUS_INLINE Half half_mul(Half a, Half b) { return _mm_mul_ps(a, b); }
TALUS_INLINE Half half_div(Half a, Half b) { return _mm_div_ps(a, b); }
TALUS_INLINE Half half_neg(Half a) { return _mm_xor_ps(a, _mm_set1_ps(-0.0f)); }
TALUS_INLINE Half half_min(Half a, Half b) { return _mm_min_ps(a, b); }
TALUS_INLINE Half half_max(Half a, Half b) { return _mm_max_ps(a, b); }
TALUS_INLINE Half half_sqrt(Half a) { return _mm_sqrt_ps(a); }
TALUS_INLINE Half half_abs(Half a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); }
TALUS_INLINE Half half_gt(Half a, Half b) { return _mm_cmpgt_ps(a, b); }
TALUS_INLINE Half half_le(Half a, Half b) { return _mm_cmple_ps(a, b); }
TALUS_INLINE Half half_and(Half a, Half b) { return _mm_and_ps(a, b); }
TALUS_INLINE Half half_or(Half a, Half b) { return _mm_or_ps(a, b); }
TALUS_INLINE Half half_select(Half m, Half a, Half b) {
    return _mm_or_ps(_mm_and_ps(m, a), _mm_andnot_ps(m, b));
}
TALUS_INLINE int half_bits(Half m) { return _mm_movemask_ps(m); }
template <int A, int B, int C, int D>
TALUS_INLINE Half half_lanes(Half a) {
    return _mm_shuffle_ps(a, a, _MM_SHUFFLE(D, C, B, A));
}
TALUS_INLINE void half_transpose(Half& a, Half& b, Half& c, Half& d) { _MM_TRANSPOSE4_PS(a, b, c, d); }
#else
using Half = v128_t;
TALUS_INLINE Half half_splat(float x) { return wasm_f32x4_splat(x); }
TALUS_INLINE Half half_load(const float* p) { return wasm_v128_load(p); }
TALUS_INLINE void half_store(float* p, Half a) { wasm_v128_store(p, a); }
TALUS_INLINE Half half_add(Half a, Half b) { return wasm_f32x4_add(a, b); }
TALUS_INLINE Half half_sub(Half a, Half b) { return wasm_f32x4_sub(a, b); }
TALUS_INLINE Half half_mul(Half a, Half b) { return wasm_f32x4_mul(a, b); }
TALUS_INLINE Half half_div(Half a, Half b) { return wasm_f32x4_div(a, b); }
TALUS_INLINE Half half_neg(Half a) { return wasm_f32x4_neg(a); }
// pmin(x, y) is y < x ? y : x.
TALUS_INLINE Half half_min(Half a, Half b) { return wasm_f32x4_pmin(b, a); }
TALUS_INLINE Half half_max(Half a, Half b) { return wasm_f32x4_pmax(b, a); }
TALUS_INLINE Half half_sqrt(Half a) { return wasm_f32x4_sqrt(a); }
TALUS_INLINE Half half_abs(Half a) { return wasm_f32x4_abs(a); }
TALUS_INLINE Half half_gt(Half a, Half b) { return wasm_f32x4_gt(a, b); }
TALUS_INLINE Half half_le(Half a, Half b) { return wasm_f32x4_le(a, b); }
TALUS_INLINE Half half_and(Half a, Half b) { return wasm_v128_and(a, b); }
TALUS_INLINE Half half_or(Half a, Half b) { return wasm_v128_or(a, b); }
TALUS_INLINE Half half_select(Half m, Half a, Half b) { return wasm_v128_bitselect(a, b, m); }
TALUS_INLINE int half_bits(Half m) { return int(wasm_i32x4_bitmask(m)); }
template <int A, int B, int C, int D>
TALUS_INLINE Half half_lanes(Half a) {
    return wasm_i32x4_shuffle(a, a, A, B, C, D);
}
TALUS_INLINE void half_transpose(Half& a, Half& b, Half& c, Half& d) {
    const Half t0 = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), t1 = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
    const Half t2 = wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), t3 = wasm_i32x4_shuffle(c, d, 2, 6, 3, 7);
    a = wasm_i32x4_shuffle(t0, t2, 0, 1, 4, 5);
    b = wasm_i32x4_shuffle(t0, t2, 2, 3, 6, 7);
    c = wasm_i32x4_shuffle(t1, t3, 0, 1, 4, 5);
    d = wasm_i32x4_shuffle(t1, t3, 2, 3, 6, 7);
}
#endif

struct Float8 {
    Half low, high;
};
struct Mask8 {
    Half low, high;
};

TALUS_INLINE Float8 splat(float x) { return {half_splat(x), half_splat(x)}; }
TALUS_INLINE Float8 load(const float* p) { return {half_load(p), half_load(p + 4)}; }
TALUS_INLINE void store(float* p, Float8 a) {
    half_store(p, a.low);
    half_store(p + 4, a.high);
}
TALUS_INLINE Mask8 load_mask(const std::int32_t* p) {
    Mask8 r;
    std::memcpy(&r, p, sizeof r);
    return r;
}
TALUS_INLINE Float8 operator+(Float8 a, Float8 b) {
    return {half_add(a.low, b.low), half_add(a.high, b.high)};
}
TALUS_INLINE Float8 operator-(Float8 a, Float8 b) {
    return {half_sub(a.low, b.low), half_sub(a.high, b.high)};
}
TALUS_INLINE Float8 operator*(Float8 a, Float8 b) {
    return {half_mul(a.low, b.low), half_mul(a.high, b.high)};
}
TALUS_INLINE Float8 operator/(Float8 a, Float8 b) {
    return {half_div(a.low, b.low), half_div(a.high, b.high)};
}
TALUS_INLINE Float8 operator-(Float8 a) { return {half_neg(a.low), half_neg(a.high)}; }
TALUS_INLINE Float8 min(Float8 a, Float8 b) { return {half_min(a.low, b.low), half_min(a.high, b.high)}; }
TALUS_INLINE Float8 max(Float8 a, Float8 b) { return {half_max(a.low, b.low), half_max(a.high, b.high)}; }
TALUS_INLINE Float8 sqrt(Float8 a) { return {half_sqrt(a.low), half_sqrt(a.high)}; }
TALUS_INLINE Float8 abs(Float8 a) { return {half_abs(a.low), half_abs(a.high)}; }
TALUS_INLINE Mask8 operator>(Float8 a, Float8 b) { return {half_gt(a.low, b.low), half_gt(a.high, b.high)}; }
TALUS_INLINE Mask8 operator<=(Float8 a, Float8 b) { return {half_le(a.low, b.low), half_le(a.high, b.high)}; }
TALUS_INLINE Mask8 operator&(Mask8 a, Mask8 b) { return {half_and(a.low, b.low), half_and(a.high, b.high)}; }
TALUS_INLINE Mask8 operator|(Mask8 a, Mask8 b) { return {half_or(a.low, b.low), half_or(a.high, b.high)}; }
TALUS_INLINE Float8 select(Mask8 m, Float8 a, Float8 b) {
    return {half_select(m.low, a.low, b.low), half_select(m.high, a.high, b.high)};
}
TALUS_INLINE Float8 keep(Mask8 m, Float8 a) { return {half_and(m.low, a.low), half_and(m.high, a.high)}; }
TALUS_INLINE int bits(Mask8 m) { return half_bits(m.low) | half_bits(m.high) << 4; }
template <int A, int B, int C, int D>
TALUS_INLINE Float8 lanes(Float8 a) {
    return {half_lanes<A, B, C, D>(a.low), half_lanes<A, B, C, D>(a.high)};
}
TALUS_INLINE Float8 swap_halves(Float8 a) { return {a.high, a.low}; }
TALUS_INLINE Float8 low_twice(Float8 a) { return {a.low, a.low}; }
TALUS_INLINE Float8 high_twice(Float8 a) { return {a.high, a.high}; }
TALUS_INLINE Float8 load_twice(const float* p) {
    const Half half = half_load(p);
    return {half, half};
}
TALUS_INLINE Float8 load_halves(const float* p, const float* q) { return {half_load(p), half_load(q)}; }
TALUS_INLINE Float8 without_low(Float8 a) { return {half_splat(0), a.high}; }
TALUS_INLINE Float8 without_high(Float8 a) { return {a.low, half_splat(0)}; }
TALUS_INLINE void transpose(Float8 (&r)[8]) {
    half_transpose(r[0].low, r[1].low, r[2].low, r[3].low);
    half_transpose(r[0].high, r[1].high, r[2].high, r[3].high);
    half_transpose(r[4].low, r[5].low, r[6].low, r[7].low);
    half_transpose(r[4].high, r[5].high, r[6].high, r[7].high);
    for (int k = 0; k < 4; k++) {
        const Half t = r[k].high;
        r[k].high = r[k + 4].low;
        r[k + 4].low = t;
    }
}

}  // namespace simd_native
#endif

#if defined(TALUS_SIMD_AVX) || defined(TALUS_SIMD_HALVES)
namespace simd = simd_native;
#else
namespace simd = simd_scalar;
#endif
using simd::Float8;
using simd::Mask8;
#if defined(TALUS_SIMD_DOUBLE4)
namespace simd4 = simd_native;
#else
namespace simd4 = simd_scalar;
#endif
using simd4::Double4;
using simd4::Shift4;

/// The largest of the lanes; they are numbers.
TALUS_INLINE float largest(Float8 a) {
    a = max(a, simd::swap_halves(a));
    a = max(a, simd::lanes<2, 3, 0, 1>(a));
    a = max(a, simd::lanes<1, 0, 3, 2>(a));
    alignas(32) float lanes[8];
    simd::store(lanes, a);
    return lanes[0];
}

/// Tells the machine that a loop only watches a value.
TALUS_INLINE void spin_wait() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace talus
