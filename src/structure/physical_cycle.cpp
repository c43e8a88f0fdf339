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
#include <utility>

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

// a x b in both halves.
TALUS_INLINE Float8 crossed(Float8 a, Float8 b) {
    return lanes<1, 2, 0, 3>(a * lanes<1, 2, 0, 3>(b) - lanes<1, 2, 0, 3>(a) * b);
}

// Of a bundle along each axis: its springs, and which turns act on each other.
struct Along {
    Six force[3], across[3];
    constexpr Along() : force{}, across{} {
        for (int a = 0; a < 3; a++)
            for (int half = 0; half < 8; half += 4) {
                const int b = next_axis(a), c = third_axis(a);
                force[a].v[half + a] = float(kAxial);
                force[a].v[half + b] = force[a].v[half + c] = float(kShear);
                across[a].v[half + b] = across[a].v[half + c] = 1;
            }
    }
};
constexpr Along kAlong;

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

// Both views: gather(i, at) is S x at node i, with at(node) where the six numbers of x are; own(i, v) is D^-1
// v.
struct Multigrid::Fine {
    const std::uint32_t* neighbour;
    const std::uint32_t* node_class;
    const Kind* kinds;
    bool uniform;

    TALUS_INLINE Float8 own(std::size_t i, Float8 v) const {
        const Kind& kind = kinds[node_class[i]];
        return kind.diagonal.v[3] != 0 ? get(kind.diagonal) * v : multiply(kind.inverse, v);
    }
    template <class At>
    TALUS_INLINE Float8 gather(std::size_t i, At&& at) const {
        const std::uint32_t* nb = neighbour + 6 * i;
        Float8 ahead[3], behind[3];
        for (int a = 0; a < 3; a++) {
            ahead[a] = simd::load(at(nb[2 * a]));
            behind[a] = simd::load(at(nb[2 * a + 1]));
        }
        if (!uniform) {
            const Six& s = kinds[node_class[i]].scale;
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

struct Multigrid::Coarse {
    const std::uint32_t *row, *column;
    const Pull* pulls;
    const Matrix6* inverses;

    TALUS_INLINE Float8 own(std::size_t i, Float8 v) const { return multiply(inverses[i], v); }
    template <class At>
    TALUS_INLINE Float8 gather(std::size_t i, At&& at) const {
        Float8 force = nothing(), moment = nothing();
        const auto along = [&]<int Axis>() __attribute__((always_inline)) {
            for (std::uint32_t e = row[3 * i + Axis]; e < row[3 * i + Axis + 1]; e++) {
                const Pull& p = pulls[e];
                const float *low = at(column[2 * e]), *high = at(column[2 * e + 1]);
                const Float8 u = simd::load_halves(low, high), t = simd::load_halves(low + 4, high + 4);
                const Float8 from = simd::load(p.from), mine = simd::load(p.mine);
                const Float8 f = (u + crossed(t, from)) * (lanes<3, 3, 3, 3>(from) * get(kAlong.force[Axis]));
                const Float8 other = Axis == 0   ? lanes<0, 2, 1, 3>(t)
                                     : Axis == 1 ? lanes<2, 1, 0, 3>(t)
                                                 : lanes<1, 0, 2, 3>(t);
                force = force + f;
                moment = moment + crossed(mine, f) + simd::load(p.turn) * t +
                         other * (lanes<3, 3, 3, 3>(mine) * get(kAlong.across[Axis]));
            }
        };
        along.template operator()<0>();
        along.template operator()<1>();
        along.template operator()<2>();
        return without_high(force + swap_halves(force)) + without_low(moment + swap_halves(moment));
    }
};

// The half sweeps of a cycle, one node at a time: even ones are for red nodes, odd ones for black, and each
// needs of the neighbours what the one before gave them.
template <class View>
struct Multigrid::Sweeps {
    View view;
    std::size_t reds;
    const std::uint32_t* parent;
    const Arm* arm;
    const Six *b, *e;  // right side; correction of the coarse level
    Six *x, *d, *s;    // a step of both colours, the residual of black
    Six* coarse;
    static constexpr int kLast = 2 * kDegree + 2;

    TALUS_INLINE Float8 pulled_by_x(std::size_t i) const {
        return view.gather(i, [this](std::size_t n) { return x[n].v; });
    }
    TALUS_INLINE Float8 pulled_by_step(std::size_t i) const {
        return view.gather(i, [this](std::size_t n) { return d[n].v; });
    }
    TALUS_INLINE Six& left(std::size_t i) const { return s[i - reds]; }

    // A step on red: what that of black does to it.
    TALUS_INLINE void follow(std::size_t i) const {
        const Float8 w = view.own(i, pulled_by_step(i));
        put(d[i], w);
        put(x[i], get(x[i]) + w);
    }
    // The first step of black, and the k-th after the residual was brought up to date; none after the last.
    TALUS_INLINE void begin(std::size_t i, Float8 residual, Float8 from) const {
        const Float8 step = simd::splat(kSteps.take[0]) * residual;
        put(left(i), residual);
        put(d[i], step);
        put(x[i], from + step);
    }
    template <int K>
    TALUS_INLINE void advance(std::size_t i) const {
        const Float8 step = get(d[i]);
        const Float8 now = get(left(i)) - step + view.own(i, pulled_by_step(i));
        put(left(i), now);
        if constexpr (K < kDegree) {
            const Float8 next = simd::splat(kSteps.keep[K]) * step + simd::splat(kSteps.take[K]) * now;
            put(d[i], next);
            put(x[i], get(x[i]) + next);
        }
    }

    template <int K>
    TALUS_INLINE void before(std::size_t i) const {
        if constexpr (K == 0) {
            put(x[i], view.own(i, get(b[i])));
        } else if constexpr (K == 1) {
            begin(i, view.own(i, get(b[i]) + pulled_by_x(i)), nothing());
        } else if constexpr (K == kLast) {
            // One exact black half sweep, x += s, would leave a residual on red only: S s.
            const Float8 r = view.gather(i, [this](std::size_t n) { return left(n).v; });
            const Float8 reach = without_low(simd::load_twice(arm[i].v));
            // The moment about the parent's place: arm x force.
            Six& sum = coarse[parent[i]];
            put(sum, get(sum) + r + turned(reach, swap_halves(r)));
        } else if constexpr (K % 2 == 0) {
            follow(i);
        } else {
            advance<K / 2>(i);
        }
    }
    template <int K>
    TALUS_INLINE void after(std::size_t i) const {
        if constexpr (K == 0) {
            if (!e) return;
            const Float8 move = get(e[parent[i]]);
            const Float8 reach = without_high(simd::load_twice(arm[i].v));
            put(x[i], get(x[i]) + move + turned(swap_halves(move), reach));
        } else if constexpr (K == 1) {
            put(x[i], view.own(i, get(b[i]) + pulled_by_x(i)));
        } else if constexpr (K == 2) {
            const Float8 now = view.own(i, get(b[i]) + pulled_by_x(i));
            put(d[i], now - get(x[i]));
            put(x[i], now);
        } else if constexpr (K == 3) {
            begin(i, view.own(i, pulled_by_step(i)), get(x[i]));
        } else if constexpr (K % 2 == 0) {
            follow(i);
        } else {
            advance<K / 2 - 1>(i);
        }
    }
};

// f.operator()<K>(node) for K = 0 ... Last: of red nodes, of black ones, and so on.
template <int Last, class F>
void Multigrid::half_sweeps(std::size_t l, const Region* region, const F& f) {
    const Level& level = levels_[l];
    const auto each = [&]<int... K>(std::integer_sequence<int, K...>, auto&& half_sweep) {
        (half_sweep.template operator()<K>(), ...);
    };
    const auto steps = std::make_integer_sequence<int, Last + 1>();
    const auto of = [](const Chunk& c, int k) {
        return k % 2 ? std::pair{c.black, c.black_end} : std::pair{c.red, c.red_end};
    };
    if (l == 0 && !region && !waves_.empty()) {
        static_assert(Last < kHalfSweeps);
        const auto catch_up = [&]<int K>(const Wave& wave, std::size_t chunk) {
            const std::uint32_t* const row = &wave.row[chunk * kHalfSweeps + std::size_t(K)];
            const std::uint32_t *const late = wave.late.data(), end = row[1];
            const F step = f;  // a copy of its own: in registers
            for (std::uint32_t k = row[0]; k < end; k++) step.template operator()<K>(late[k]);
        };
        in_parallel(jobs_, waves_.size(), [&](std::size_t w) {
            const Wave& wave = waves_[w];
            for (std::size_t c = wave.chunk; c < wave.chunk_end; c++)
                each(steps, [&]<int K>() {
                    const auto [begin, end] = of(level.chunks[c], K);
                    const std::uint8_t* const early = early_.data();
                    const F step = f;
                    for (std::size_t i = begin; i < end; i++)
                        if (early[i] > K) step.template operator()<K>(i);
                    catch_up.template operator()<K>(wave, c - wave.chunk);
                });
        });
        each(steps, [&]<int K>() {
            in_parallel(K ? jobs_ : nullptr, K ? waves_.size() : 0, [&](std::size_t w) {
                catch_up.template operator()<K>(waves_[w], waves_[w].chunk_end - waves_[w].chunk);
            });
        });
        return;
    }
    const Chunk whole{0, level.reds, level.reds, level.nodes};
    const bool alone = !region && (!jobs_ || level.chunks.size() < 2);
    const std::span<const Chunk> chunks = alone     ? std::span<const Chunk>(&whole, 1)
                                          : !region ? std::span<const Chunk>(level.chunks)
                                          : l == 0  ? std::span<const Chunk>(region->nodes)
                                                    : std::span<const Chunk>(region->groups);
    each(steps, [&]<int K>() {
        in_parallel(region ? nullptr : jobs_, chunks.size(), [&](std::size_t c) {
            const auto [begin, end] = of(chunks[c], K);
            const F step = f;
            for (std::size_t i = begin; i < end; i++) step.template operator()<K>(i);
        });
    });
}

// b -> x, about K^-1 b. With q: K x, which one more half sweep tells.
template <class View>
void Multigrid::cycle(const View& view, std::size_t l, const Six* b, Six* x, Six* q, const Region* region) {
    Level& level = levels_[l];
    const bool has_coarse = l + 1 < levels_.size() && (!region || l == 0);
    Sweeps<View> sweeps{view,    level.reds, level.parent.data(), level.arm.data(), b,
                        nullptr, x,          level.d.data(),      level.s.data(),   nullptr};
    constexpr int kLast = Sweeps<View>::kLast;
    const auto before = [&] {
        return [sweeps]<int K>(std::size_t i) __attribute__((always_inline)) {
            sweeps.template before<K>(i);
        };
    };
    const auto after = [&] {
        return [sweeps]<int K>(std::size_t i) __attribute__((always_inline)) { sweeps.template after<K>(i); };
    };
    if (has_coarse) {
        sweeps.coarse = levels_[l + 1].b.data();
        over(l + 1, region, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; i++) put(sweeps.coarse[i], nothing());
        });
        half_sweeps<kLast>(l, region, before());
        sweeps.e = solve_coarse(l + 1, region);
    } else {
        half_sweeps<kLast - 1>(l, region, before());
    }
    half_sweeps<kLast>(l, region, after());
    if (!q) return;
    // The last residual, of black; there is none on red.
    over(l, region, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; i++) {
            Float8 v = get(b[i]);
            if (i >= level.reds) {
                sweeps.template advance<kDegree>(i);
                v = v - multiply(level.matrix[i], get(sweeps.left(i)));
            }
            put(q[i], v);
        }
    });
}

void Multigrid::cycle(std::size_t l, const Six* b, Six* x, Six* q, const Region* region) {
    const Level& level = levels_[l];
    if (l == 0)
        cycle(Fine{lattice_->neighbour.data(), lattice_->node_class.data(), kinds_.data(), lattice_->uniform},
              l, b, x, q, region);
    else
        cycle(Coarse{level.row.data(), level.column.data(), level.pulls.data(), level.inverse.data()}, l, b,
              x, q, region);
}

void Multigrid::precondition(const Six* b, Six* x, const Region* region) {
    if (dense_old_ && !region) invert_coarsest();
    cycle(0, b, x, nullptr, region);
}

void Multigrid::clear_border(const Region& region) {
    const auto clear = [](const std::vector<Chunk>& chunks, Level& level,
                          std::initializer_list<Field*> more) {
        for (const Chunk& c : chunks) {
            for (std::size_t i = c.black; i < c.black_end; i++) level.s[i - level.reds] = {};
            for (const auto& [begin, end] : {std::pair{c.red, c.red_end}, {c.black, c.black_end}})
                for (std::size_t i = begin; i < end; i++) {
                    level.d[i] = {};
                    for (Field* f : more) (*f)[i] = {};
                }
        }
    };
    clear(region.border, levels_[0], {});
    if (levels_.size() > 1) clear(region.border_groups, levels_[1], {&levels_[1].z1, &levels_[1].z2});
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
    std::size_t sum = of(kinds_) + of(early_) + of(waves_) + of(dense_) + of(partial_) + of(dense_work_) +
                      of(dense_sum_) + of(groups_);
    for (const Wave& w : waves_) sum += of(w.late) + of(w.row);
    for (const Level& l : levels_)
        sum += of(l.chunks) + of(l.parent) + of(l.arm) + of(l.b) + of(l.s) + of(l.d) + of(l.natural) +
               of(l.brick) + of(l.place) + of(l.bundles) + of(l.points) + of(l.row) + of(l.column) +
               of(l.pulls) + of(l.inverse) + of(l.matrix) + of(l.z1) + of(l.q1) + of(l.z2) + of(l.q2) +
               of(l.touch_row) + of(l.touch) + of(l.changed);
    return sum;
}

}  // namespace talus::physical
