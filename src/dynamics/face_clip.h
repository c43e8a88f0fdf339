// face_clip.h - where two rectangles in space overlap: the points of a face-to-face contact.
//
// Layer: dynamics. Metres. The rectangle that looks towards the other is clipped to the borders of the
// reference rectangle. The corners of the overlap are of three kinds, each kind one or two tests of eight
// lanes:
//
//     corners of the incident face inside the reference face      lanes 0..3
//     corners of the reference face inside the incident face      lanes 4..7
//     edges of the one that cross borders of the other            two times eight
//
// Most faces need the first eight only: when all four corners of one lie inside the other, they are the
// overlap. Clipping border after border was rejected: four dependent passes, five times the instructions.
// Corners within kSnap of a border count as inside and crossings there are left out, so that rounding never
// loses a corner; it may show one twice.
// Determinism: lanes in order. Tests: tests/dynamics/contact_test.cpp
#pragma once

#include "math/simd.h"
#include "talus/math.h"

namespace talus {

struct ClippedFace {
    static constexpr int kMost = 24;
    // Of points on the incident face; only the first `count` are set.
    float place[3][kMost];
    float separation[kMost];
    int count;

    Vec3 point(int i) const { return {place[0][i], place[1][i], place[2][i]}; }
};

/// The incident box's face that looks most against face `axis`/`side` of the reference box, clipped to that
/// face; points nearer than `margin` only.
/// @param rc,rh  reference box along the unit axes
/// @param ic,turn,ih  incident box: its middle, its axes as columns, its half sizes
inline void clip_face(Vec3 rc, Vec3 rh, int axis, float side, Vec3 ic, const Mat3& turn, Vec3 ih,
                      float margin, ClippedFace& out) {
    using simd::splat;
    constexpr float kSnap = 1e-4f;
    int j = 0;
    float most = 0;
    for (int k = 0; k < 3; k++)
        if (std::fabs(turn.m[axis][k]) > most) {
            most = std::fabs(turn.m[axis][k]);
            j = k;
        }
    constexpr int kNext[3] = {1, 2, 0}, kLast[3] = {2, 0, 1};
    const int u = kNext[axis], v = kLast[axis], ju = kNext[j], jv = kLast[j];
    const float hj = turn.m[axis][j] * side > 0 ? -ih[j] : ih[j];
    const Vec3 d = ic - rc;
    // Middle and half edges of the incident face: u, v across the reference face, n above it.
    const float cu = d[u] + turn.m[u][j] * hj, cv = d[v] + turn.m[v][j] * hj,
                cn = (d[axis] + turn.m[axis][j] * hj) * side - rh[axis];
    const float eu = turn.m[u][ju] * ih[ju], ev = turn.m[v][ju] * ih[ju],
                en = turn.m[axis][ju] * ih[ju] * side;
    const float fu = turn.m[u][jv] * ih[jv], fv = turn.m[v][jv] * ih[jv],
                fn = turn.m[axis][jv] * ih[jv] * side;
    const float hu = rh[u], hv = rh[v];

    out.count = 0;
    auto take = [&](unsigned lanes, Float8 pu, Float8 pv, Float8 pn) {
        const unsigned near = lanes & unsigned(bits(pn <= splat(margin)));
        if (!near) return;
        alignas(32) float us[8], vs[8], as[8], ns[8];
        simd::store(us, pu + splat(rc[u]));
        simd::store(vs, pv + splat(rc[v]));
        simd::store(as, (pn + splat(rh[axis])) * splat(side) + splat(rc[axis]));
        simd::store(ns, pn);
        for (unsigned m = near; m; m &= m - 1) {
            const int k = __builtin_ctz(m);
            out.place[u][out.count] = us[k];
            out.place[v][out.count] = vs[k];
            out.place[axis][out.count] = as[k];
            out.separation[out.count++] = ns[k];
        }
    };

    // Corners. Lanes 0..3 know their place (s, t) on the incident face, lanes 4..7 theirs on the reference.
    alignas(32) static constexpr float kS[8] = {-1, 1, 1, -1, -1, 1, 1, -1};
    alignas(32) static constexpr float kT[8] = {-1, -1, 1, 1, -1, -1, 1, 1};
    const Float8 s8 = simd::load(kS), t8 = simd::load(kT);
    const Float8 iu = splat(cu) + s8 * splat(eu) + t8 * splat(fu),
                 iv = splat(cv) + s8 * splat(ev) + t8 * splat(fv),
                 in = splat(cn) + s8 * splat(en) + t8 * splat(fn);
    const unsigned inside =
        unsigned(bits((abs(iu) <= splat(hu + kSnap)) & (abs(iv) <= splat(hv + kSnap)))) & 15;
    if (inside == 15) return take(15, iu, iv, in);
    const float determinant = eu * fv - ev * fu, inverse = 1 / determinant;
    const Float8 ru = s8 * splat(hu), rv = t8 * splat(hv);
    const Float8 au = ru - splat(cu), av = rv - splat(cv);
    const Float8 rs = (au * splat(fv) - av * splat(fu)) * splat(inverse),
                 rt = (av * splat(eu) - au * splat(ev)) * splat(inverse);
    const unsigned covered =
        unsigned(bits((abs(rs) <= splat(1 + kSnap)) & (abs(rt) <= splat(1 + kSnap)))) & 15;
    const Float8 rn = splat(cn) + rs * splat(en) + rt * splat(fn);
    if (covered == 15) return take(15, ru, rv, rn);
    take(inside, iu, iv, in);
    take(covered, ru, rv, rn);

    // Crossings: lanes 0..3 are edges along f at -e, -e, +e, +e, lanes 4..7 along e at -f, -f, +f, +f; odd
    // lanes meet the positive border.
    alignas(32) static constexpr float kE[8] = {-1, -1, 1, 1, 0, 0, 0, 0};
    alignas(32) static constexpr float kF[8] = {0, 0, 0, 0, -1, -1, 1, 1};
    alignas(32) static constexpr float kBorder[8] = {-1, 1, -1, 1, -1, 1, -1, 1};
    const Float8 e8 = simd::load(kE), f8 = simd::load(kF), border = simd::load(kBorder);
    const Float8 along_u = abs(e8) * splat(fu) + abs(f8) * splat(eu),
                 along_v = abs(e8) * splat(fv) + abs(f8) * splat(ev),
                 along_n = abs(e8) * splat(fn) + abs(f8) * splat(en);
    const Float8 at_u = splat(cu) + e8 * splat(eu) + f8 * splat(fu),
                 at_v = splat(cv) + e8 * splat(ev) + f8 * splat(fv),
                 at_n = splat(cn) + e8 * splat(en) + f8 * splat(fn);
    const Float8 within = splat(1 - kSnap);
    {
        const Float8 x = border * splat(hu), t = (x - at_u) / along_u, y = at_v + t * along_v;
        take(unsigned(bits((abs(t) <= within) & (abs(y) <= splat(hv - kSnap)))), x, y, at_n + t * along_n);
    }
    {
        const Float8 y = border * splat(hv), t = (y - at_v) / along_v, x = at_u + t * along_u;
        take(unsigned(bits((abs(t) <= within) & (abs(x) <= splat(hu - kSnap)))), x, y, at_n + t * along_n);
    }
}

}  // namespace talus
