// One multigrid cycle. How a half sweep works, with D the own stiffness of a node and S what it gets from its
// neighbours (K = D - S; red nodes have only black neighbours and the other way round):
//
//     red:    x = D^-1 (b + S x)        then the red residual is zero
//     black:  the same, or one step of the Chebyshev recurrence on the system reduced to black nodes, whose
//             residual needs S on black and on red only
#include "structure/physical_multigrid.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>

namespace talus::physical {

namespace {

constexpr int kDegree = 3;       // of the Chebyshev polynomial
constexpr float kLowest = 0.1f;  // it works on [kLowest, 1]
constexpr std::size_t kDotChunk = 4096;

TALUS_INLINE Float8 get(const Six& x) { return simd::load(x.v); }
TALUS_INLINE void put(Six& x, Float8 v) { simd::store(x.v, v); }
TALUS_INLINE Float8 nothing() { return simd::splat(0); }

TALUS_INLINE Float8 multiply(const Matrix6& m, Float8 x) {
    const Float8 u = low_twice(x), t = high_twice(x);
    const Float8 a = simd::load(m.column[0]) * lanes<0, 0, 0, 0>(u) +
                     simd::load(m.column[1]) * lanes<1, 1, 1, 1>(u) +
                     simd::load(m.column[2]) * lanes<2, 2, 2, 2>(u);
    const Float8 b = simd::load(m.column[3]) * lanes<0, 0, 0, 0>(t) +
                     simd::load(m.column[4]) * lanes<1, 1, 1, 1>(t) +
                     simd::load(m.column[5]) * lanes<2, 2, 2, 2>(t);
    return a + b;
}

// Of the bonds along each axis: what acts on the same component, and on the one across.
struct Pattern {
    Six same[3], across[3];
    constexpr Pattern() : same{}, across{} {
        for (int a = 0; a < 3; a++) {
            const int b = next_axis(a), c = third_axis(a);
            same[a].v[a] = float(kAxial);
            same[a].v[b] = same[a].v[c] = float(kShear);
            same[a].v[4 + a] = float(kTwist);
            same[a].v[4 + b] = same[a].v[4 + c] = float(kBend - kShear / 4);
            across[a].v[b] = across[a].v[4 + b] = float(-kShear / 2);
            across[a].v[c] = across[a].v[4 + c] = float(kShear / 2);
        }
    }
};
constexpr Pattern kPattern;

// theta x arm, in the low half; zero in the high one.
TALUS_INLINE Float8 turned(Float8 theta, Float8 arm) {
    const Float8 a = lanes<1, 2, 0, 3>(theta), b = lanes<1, 2, 0, 3>(arm);
    return lanes<1, 2, 0, 3>(theta * b - a * arm);
}

struct Steps {  // d = keep d + take s
    float keep[kDegree], take[kDegree];
    constexpr Steps() : keep{}, take{} {
        const float middle = (1 + kLowest) / 2, half = (1 - kLowest) / 2, sigma = middle / half;
        float rho = 1 / sigma;
        for (int i = 0; i < kDegree; i++) {
            const float next = i ? 1 / (2 * sigma - rho) : rho;
            keep[i] = i ? next * rho : 0;
            take[i] = i ? 2 * next / half : 1 / middle;
            rho = next;
        }
    }
};
constexpr Steps kSteps;

}  // namespace

// Both views: gather(x, i) is S x at node i, inverse(i) is D^-1.
struct Multigrid::FineView {
    const std::uint32_t* neighbour;
    const std::uint32_t* node_class;
    const Matrix6* class_inverse;
    const Six* scale;
    bool uniform;

    TALUS_INLINE const Matrix6& inverse(std::size_t i) const { return class_inverse[node_class[i]]; }
    TALUS_INLINE Float8 gather(const Six* x, std::size_t i) const {
        const std::uint32_t* nb = neighbour + 6 * i;
        Float8 ahead[3], behind[3];
        for (int a = 0; a < 3; a++) {
            ahead[a] = get(x[nb[2 * a]]);
            behind[a] = get(x[nb[2 * a + 1]]);
        }
        if (!uniform) {
            const Six& s = scale[node_class[i]];
            for (int a = 0; a < 3; a++) {
                ahead[a] = ahead[a] * simd::splat(s.v[2 * a]);
                behind[a] = behind[a] * simd::splat(s.v[2 * a + 1]);
            }
        }
        const Float8 same = get(kPattern.same[0]) * (ahead[0] + behind[0]) +
                            get(kPattern.same[1]) * (ahead[1] + behind[1]) +
                            get(kPattern.same[2]) * (ahead[2] + behind[2]);
        const Float8 across = get(kPattern.across[0]) * lanes<0, 2, 1, 3>(ahead[0] - behind[0]) +
                              get(kPattern.across[1]) * lanes<2, 1, 0, 3>(ahead[1] - behind[1]) +
                              get(kPattern.across[2]) * lanes<1, 0, 2, 3>(ahead[2] - behind[2]);
        return same + swap_halves(across);
    }
};

struct Multigrid::CoarseView {
    const std::uint32_t *row, *column;
    const Matrix6 *block, *inverses;

    TALUS_INLINE const Matrix6& inverse(std::size_t i) const { return inverses[i]; }
    TALUS_INLINE Float8 gather(const Six* x, std::size_t i) const {
        Float8 a = nothing(), b = nothing();
        for (std::uint32_t e = row[i]; e < row[i + 1]; e++) {
            const Matrix6& m = block[e];
            const Six& from = x[column[e]];
            const Float8 u = simd::load_twice(from.v), t = simd::load_twice(from.v + 4);
            a = a + simd::load(m.column[0]) * lanes<0, 0, 0, 0>(u);
            b = b + simd::load(m.column[3]) * lanes<0, 0, 0, 0>(t);
            a = a + simd::load(m.column[1]) * lanes<1, 1, 1, 1>(u);
            b = b + simd::load(m.column[4]) * lanes<1, 1, 1, 1>(t);
            a = a + simd::load(m.column[2]) * lanes<2, 2, 2, 2>(u);
            b = b + simd::load(m.column[5]) * lanes<2, 2, 2, 2>(t);
        }
        return a + b;
    }
};

// b -> x, about K^-1 b. With q: K x, which the last half sweep knows anyway.
template <class View>
void Multigrid::cycle(const View& view, std::size_t l, const Six* b, Six* x, Six* q, const Region* region) {
    Level& level = levels_[l];
    Six *const t = level.t.data(), *const s = level.s.data(), *const d = level.d.data();
    const Chunk whole{0, level.reds, level.reds, level.nodes};
    const bool alone = !region && (!jobs_ || level.chunks.size() < 2);
    const std::span<const Chunk> chunks = alone     ? std::span<const Chunk>(&whole, 1)
                                          : !region ? std::span<const Chunk>(level.chunks)
                                          : l == 0  ? std::span<const Chunk>(region->nodes)
                                                    : std::span<const Chunk>(region->groups);
    JobSystem* const jobs = region ? nullptr : jobs_;
    const auto red = [&](auto&& step) {
        in_parallel(jobs, chunks.size(), [&](std::size_t c) {
            const Chunk chunk = chunks[c];
            for (std::size_t i = chunk.red; i < chunk.red_end; i++) step(i);
        });
    };
    const auto black = [&](auto&& step) {
        in_parallel(jobs, chunks.size(), [&](std::size_t c) {
            const Chunk chunk = chunks[c];
            for (std::size_t i = chunk.black; i < chunk.black_end; i++) step(i);
        });
    };
    // A step on red: what the change d of black does to red.
    const auto follow = [&](std::size_t i) {
        const Float8 w = multiply(view.inverse(i), view.gather(d, i));
        put(t[i], w);
        put(x[i], get(x[i]) + w);
    };
    // The residual s of the reduced system after that, and the next step of black.
    const auto advance = [&](int k) {
        const bool more = k + 1 < kDegree;
        const Float8 keep = simd::splat(more ? kSteps.keep[k + 1] : 0);
        const Float8 take = simd::splat(more ? kSteps.take[k + 1] : 0);
        black([&, keep, take](std::size_t i) {
            const Float8 step = get(d[i]);
            const Float8 left = get(s[i]) - step + multiply(view.inverse(i), view.gather(t, i));
            put(s[i], left);
            if (!more) return;
            const Float8 next = keep * step + take * left;
            put(d[i], next);
            put(x[i], get(x[i]) + next);
        });
    };
    const Float8 first = simd::splat(kSteps.take[0]);

    red([&](std::size_t i) { put(x[i], multiply(view.inverse(i), get(b[i]))); });
    black([&](std::size_t i) {
        const Float8 left = multiply(view.inverse(i), get(b[i]) + view.gather(x, i));
        put(s[i], left);
        put(d[i], first * left);
        put(x[i], first * left);
    });
    for (int k = 0; k < kDegree; k++) {
        red(follow);
        advance(k);
    }

    const bool has_coarse = l + 1 < levels_.size() && (!region || l == 0);
    if (has_coarse) {
        Level& coarse = levels_[l + 1];
        over(l + 1, region, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; i++) put(coarse.b[i], nothing());
        });
        // One exact black half sweep, x += s, would leave a residual on red only: S s.
        Six* const to = coarse.b.data();
        red([&](std::size_t i) {
            const Float8 r = view.gather(s, i);
            const Float8 arm = without_low(simd::load_twice(level.arm[i].v));
            // The moment about the parent's place: arm x force.
            const Float8 moment = turned(arm, swap_halves(r));
            Six& sum = to[level.parent[i]];
            put(sum, get(sum) + r + moment);
        });
        const Six* e = solve_coarse(l + 1, region);
        red([&](std::size_t i) {
            const Float8 move = get(e[level.parent[i]]);
            const Float8 arm = without_high(simd::load_twice(level.arm[i].v));
            put(x[i], get(x[i]) + move + turned(swap_halves(move), arm));
        });
    }

    black([&](std::size_t i) { put(x[i], multiply(view.inverse(i), get(b[i]) + view.gather(x, i))); });
    red([&](std::size_t i) {
        const Float8 now = multiply(view.inverse(i), get(b[i]) + view.gather(x, i));
        put(t[i], now - get(x[i]));
        put(x[i], now);
    });
    black([&](std::size_t i) {
        const Float8 left = multiply(view.inverse(i), view.gather(t, i));
        put(s[i], left);
        put(d[i], first * left);
        put(x[i], get(x[i]) + first * left);
    });
    for (int k = 0; k < kDegree; k++) {
        red(follow);
        if (q || k + 1 < kDegree) advance(k);
    }
    if (!q) return;
    red([&](std::size_t i) { put(q[i], get(b[i])); });
    black([&](std::size_t i) { put(q[i], get(b[i]) - multiply(level.matrix[i], get(s[i]))); });
}

void Multigrid::cycle(std::size_t l, const Six* b, Six* x, Six* q, const Region* region) {
    const Level& level = levels_[l];
    if (l == 0)
        cycle(FineView{lattice_->neighbour.data(), lattice_->node_class.data(), class_inverse_.data(),
                       class_scale_.data(), lattice_->uniform},
              l, b, x, q, region);
    else
        cycle(CoarseView{level.row.data(), level.column.data(), level.block.data(), level.inverse.data()}, l,
              b, x, q, region);
}

void Multigrid::precondition(const Six* b, Six* x, const Region* region) {
    if (dense_old_ && !region) invert_coarsest();
    cycle(0, b, x, nullptr, region);
}

void Multigrid::clear_border(const Region& region) {
    const auto clear = [](const std::vector<Chunk>& chunks, std::initializer_list<Field*> fields) {
        for (const Chunk& c : chunks)
            for (Field* f : fields) {
                for (std::size_t i = c.red; i < c.red_end; i++) put((*f)[i], nothing());
                for (std::size_t i = c.black; i < c.black_end; i++) put((*f)[i], nothing());
            }
    };
    Level& fine = levels_[0];
    clear(region.border, {&fine.t, &fine.s, &fine.d});
    if (levels_.size() < 2) return;
    Level& coarse = levels_[1];
    clear(region.border_groups, {&coarse.t, &coarse.s, &coarse.d, &coarse.z1, &coarse.z2});
}

void Multigrid::solve_dense(const Six* b, Six* x) {
    const std::size_t n = levels_.back().nodes, m = 6 * n;
    std::vector<float>& sum = dense_sum_;
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (std::size_t c = 0; c < m; c++) {
        const std::size_t k = c % 6;
        const float v = b[c / 6].v[k < 3 ? k : k + 1];
        const float* column = &dense_[c * m];  // symmetric
        for (std::size_t r = 0; r < m; r++) sum[r] += column[r] * v;
    }
    for (std::size_t i = 0; i < n; i++)
        for (std::size_t k = 0; k < 6; k++) x[i].v[k < 3 ? k : k + 1] = sum[6 * i + k];
}

// f(begin, end) for runs of nodes that make up a level, or the region's part of it.
template <class F>
void Multigrid::over(std::size_t l, const Region* region, F&& f) {
    if (region) {
        for (const Chunk& c : l == 0 ? region->nodes : region->groups) {
            if (c.red < c.red_end) f(c.red, c.red_end);
            if (c.black < c.black_end) f(c.black, c.black_end);
        }
        return;
    }
    const std::size_t n = levels_[l].nodes;
    in_parallel(jobs_, (n + kDotChunk - 1) / kDotChunk, [&](std::size_t k) {
        f(k * kDotChunk, k * kDotChunk + kDotChunk < n ? k * kDotChunk + kDotChunk : n);
    });
}

// a.b and c.d. Eight partial sums of float in a run, runs in double.
void Multigrid::dots(std::size_t l, const Region* region, const Six* a, const Six* b, const Six* c,
                     const Six* d, double& ab, double& cd) {
    std::size_t runs = (levels_[l].nodes + kDotChunk - 1) / kDotChunk, run = 0;
    if (!region) partial_.resize(2 * runs);
    ab = cd = 0;
    over(l, region, [&](std::size_t begin, std::size_t end) {
        Float8 p = nothing(), q = nothing();
        for (std::size_t i = begin; i < end; i++) {
            p = p + get(a[i]) * get(b[i]);
            q = q + get(c[i]) * get(d[i]);
        }
        float v[8], w[8];
        simd::store(v, p);
        simd::store(w, q);
        double x = 0, y = 0;
        for (int j = 0; j < 8; j++) {
            x += double(v[j]);
            y += double(w[j]);
        }
        if (region) {
            ab += x;
            cd += y;
        } else {
            partial_[2 * (begin / kDotChunk)] = x;
            partial_[2 * (begin / kDotChunk) + 1] = y;
        }
    });
    for (; !region && run < runs; run++) {
        ab += partial_[2 * run];
        cd += partial_[2 * run + 1];
    }
}

// Two steps of flexible conjugate gradients for the right side level.b, which is used up. The answer is
// level.z1.
const Six* Multigrid::solve_coarse(std::size_t l, const Region* region) {
    Level& level = levels_[l];
    Six *const z1 = level.z1.data(), *const q1 = level.q1.data(), *const z2 = level.z2.data(),
               *const q2 = level.q2.data(), *const b = level.b.data();
    if (!region && l + 1 == levels_.size() && !dense_.empty()) {
        solve_dense(b, z1);
        return z1;
    }
    const auto combine = [&](double a1, double a2, const Six* second) {
        const Float8 v1 = simd::splat(float(a1)), v2 = simd::splat(float(a2));
        over(l, region, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; i++)
                put(z1[i], second ? v1 * get(z1[i]) + v2 * get(second[i]) : v1 * get(z1[i]));
        });
    };
    cycle(l, b, z1, q1, region);
    double zq, zb;
    dots(l, region, z1, q1, z1, b, zq, zb);
    if (!(zq > 0)) return z1;
    const double alpha = zb / zq;
    const Float8 minus = simd::splat(float(-alpha));
    over(l, region, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i++) put(b[i], get(b[i]) + minus * get(q1[i]));
    });
    cycle(l, b, z2, q2, region);
    double gamma, beta, rb, unused;
    dots(l, region, z2, q1, z2, q2, gamma, beta);
    dots(l, region, z2, b, z2, b, rb, unused);
    const double rho = beta - gamma * gamma / zq;
    if (!(rho > 0)) {
        combine(alpha, 0, nullptr);
        return z1;
    }
    const double second = rb / rho;
    combine(alpha - gamma * second / zq, second, z2);
    return z1;
}

std::size_t Multigrid::bytes() const {
    const auto of = [](const auto& v) { return v.capacity() * sizeof v[0]; };
    std::size_t sum = of(class_inverse_) + of(class_scale_) + of(dense_) + of(partial_) + of(dense_work_) +
                      of(dense_sum_) + of(groups_);
    for (const Level& l : levels_)
        sum += of(l.chunks) + of(l.parent) + of(l.arm) + of(l.b) + of(l.t) + of(l.s) + of(l.d) +
               of(l.natural) + of(l.brick) + of(l.place) + of(l.bundles) + of(l.points) + of(l.row) +
               of(l.column) + of(l.block) + of(l.inverse) + of(l.matrix) + of(l.z1) + of(l.q1) + of(l.z2) +
               of(l.q2) + of(l.touch_row) + of(l.touch) + of(l.changed);
    return sum;
}

}  // namespace talus::physical
