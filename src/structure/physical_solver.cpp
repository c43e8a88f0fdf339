#include "structure/physical_solver.h"

#include <cmath>
#include <cstring>

namespace talus::physical {

namespace {

constexpr std::uint32_t kSumChunk = 4096;
constexpr std::size_t kFewNodes = 8000;  // with fewer, a loop is too short to share

struct Springs {  // as Pattern in physical_cycle.cpp, in double and by source lane
    double same[3][8], across[3][4];
    constexpr Springs() : same{}, across{} {
        for (int a = 0; a < 3; a++) {
            const int b = next_axis(a), c = third_axis(a);
            same[a][a] = kAxial;
            same[a][b] = same[a][c] = kShear;
            same[a][4 + a] = kTwist;
            same[a][4 + b] = same[a][4 + c] = kBend - kShear / 4;
            across[a][c] = -kShear / 2;
            across[a][b] = kShear / 2;
        }
    }
};
constexpr Springs kSprings;

template <int Axis>
TALUS_INLINE Double4 crossed(Double4 v) {
    if constexpr (Axis == 0) return lanes<0, 2, 1, 3>(v);
    if constexpr (Axis == 1) return lanes<2, 1, 0, 3>(v);
    if constexpr (Axis == 2) return lanes<1, 0, 2, 3>(v);
}

}  // namespace

void Solver::prepare(JobSystem* jobs) {
    const std::size_t n = lattice.nodes;
    jobs_ = n < kFewNodes ? nullptr : jobs;
    multigrid.build(lattice, jobs_);
    clear_field(jobs, x, n + 1);
    reference.assign(n, 1);
    for (Field* field : {&f, &r_, &q_, &p_, &z_}) clear_field(jobs, *field, n + 1);
    own_.clear();
    own_.reserve(lattice.classes.capacity());
    add_classes();
    whole_.clear();
    for (std::uint32_t i = 0; i < n; i += kSumChunk)
        whole_.push_back({i, i + kSumChunk < n ? i + kSumChunk : std::uint32_t(n), 0, 0});
    partial_.reserve(lattice.bricks.size());
}

void Solver::add_classes() {
    while (own_.size() < lattice.classes.size()) {
        Lattice::Class c = lattice.classes[own_.size()];
        c.pinned = kGroundEnd;
        double m[36];
        own_stiffness(lattice, c, m);
        Own& own = own_.emplace_back();
        std::memset(&own, 0, sizeof own);
        for (int k = 0; k < 3; k++) {
            own.same[k] = m[7 * k];
            own.same[4 + k] = m[7 * (3 + k)];
        }
        for (int a = 0; a < 3; a++) {
            const int b = next_axis(a), d = third_axis(a);
            const double k = kShear / 2 * (c.all_scale[2 * a] - c.all_scale[2 * a + 1]);
            own.across[a][d] = k;
            own.across[a][b] = -k;
        }
    }
}

namespace {

// The force and moment at a node's centre that a pin's springs need for motion v.
template <class V>
void pin_force(const Lattice& lattice, const Pin& pin, const V& v, double (&out)[8]) {
    const Cell c = lattice.cell[pin.node];
    const double arm[3] = {pin.at[0] - c.x - 0.5, pin.at[1] - c.y - 0.5, pin.at[2] - c.z - 0.5};
    for (int a = 0; a < 3; a++) {
        const int b = next_axis(a), d = third_axis(a);
        out[a] = pin.stiffness[a] * (double(v[a]) + double(v[4 + b]) * arm[d] - double(v[4 + d]) * arm[b]);
    }
    for (int a = 0; a < 3; a++) {
        const int b = next_axis(a), d = third_axis(a);
        out[4 + a] = arm[b] * out[d] - arm[d] * out[b];
    }
    out[3] = out[7] = 0;
}

}  // namespace

void Solver::add_pin(const Pin& pin, double* out) const {
    double f[8];
    pin_force(lattice, pin, x[pin.node].v, f);
    for (int k = 0; k < 8; k++) out[k] -= f[k];
}

template <class F>
Solver::Sums Solver::sum_chunks(const std::vector<Chunk>& nodes, F&& run_sum) {
    Sums total{0, 0, 0, 0};
    const auto add = [](Sums& sum, const Sums& s) {
        sum.first += s.first;
        sum.second += s.second;
        sum.vertical += s.vertical;
        // Written so that a NaN stays.
        sum.largest = s.largest <= sum.largest ? sum.largest : s.largest;
    };
    partial_.resize(nodes.size());
    in_parallel(&nodes == &whole_ ? jobs_ : nullptr, nodes.size(), [&](std::size_t k) {
        const Chunk c = nodes[k];
        partial_[k] = run_sum(c.red, c.red_end);
        if (c.black < c.black_end) add(partial_[k], run_sum(c.black, c.black_end));
    });
    for (const Sums& s : partial_) add(total, s);
    return total;
}

// q = K x, with x.q and x.r; or the residual q = r - K x.
template <class T>
void Solver::apply(const std::vector<Chunk>& nodes, const T* field, const Six* r, Six* q, bool residual,
                   double& xq, double& xr) {
    const std::uint32_t* const neighbour = lattice.neighbour.data();
    const bool uniform = lattice.uniform;
    // A row of K x, without pins.
    const auto row = [&](std::size_t i, Double4 & u, Double4 & t) __attribute__((always_inline)) {
        const std::uint32_t* nb = neighbour + 6 * i;
        const Own& own = own_[lattice.node_class[i]];
        const Double4 xu = simd4::load4(field[i].v), xt = simd4::load4(field[i].v + 4);
        u = simd4::load4(own.same) * xu;
        t = simd4::load4(own.same + 4) * xt;
        const auto along = [&]<int Axis>() __attribute__((always_inline)) {
            const T &ahead = field[nb[2 * Axis]], &behind = field[nb[2 * Axis + 1]];
            Double4 au = simd4::load4(ahead.v), at = simd4::load4(ahead.v + 4);
            Double4 bu = simd4::load4(behind.v), bt = simd4::load4(behind.v + 4);
            if (!uniform) {
                const float* scale = lattice.classes[lattice.node_class[i]].scale;
                const Double4 sa = simd4::splat4(double(scale[2 * Axis]));
                const Double4 sb = simd4::splat4(double(scale[2 * Axis + 1]));
                au = au * sa;
                at = at * sa;
                bu = bu * sb;
                bt = bt * sb;
            }
            u = u - simd4::load4(kSprings.same[Axis]) * (au + bu);
            t = t - simd4::load4(kSprings.same[Axis] + 4) * (at + bt);
            const Double4 spring = simd4::load4(kSprings.across[Axis]), mine = simd4::load4(own.across[Axis]);
            u = u + crossed<Axis>(mine * xt - spring * (at - bt));
            t = t - crossed<Axis>(mine * xu + spring * (au - bu));
        };
        along.template operator()<0>();
        along.template operator()<1>();
        along.template operator()<2>();
    };
    const Sums sums = sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
        Double4 sum_q = simd4::splat4(0), sum_r = simd4::splat4(0);
        for (std::size_t i = begin; i < end; i++) {
            Double4 u, t;
            row(i, u, t);
            const Double4 ru = simd4::load4(r[i].v), rt = simd4::load4(r[i].v + 4);
            if (residual) {
                u = ru - u;
                t = rt - t;
            } else {
                const Double4 xu = simd4::load4(field[i].v), xt = simd4::load4(field[i].v + 4);
                sum_q = sum_q + (xu * u + xt * t);
                sum_r = sum_r + (xu * ru + xt * rt);
            }
            simd4::store4(q[i].v, u);
            simd4::store4(q[i].v + 4, t);
        }
        double a[4], b[4];
        simd4::store4(a, sum_q);
        simd4::store4(b, sum_r);
        return Sums{a[0] + a[1] + a[2] + a[3], b[0] + b[1] + b[2] + b[3], 0, 0};
    });
    xq = sums.first;
    xr = sums.second;
    // Rows of pinned nodes once more, with their pins: a sum of large numbers that must not go through float.
    for (std::size_t p = 0; p < lattice.pins.size(); p++) {
        const std::uint32_t node = lattice.pins[p].node;
        double sum[8];
        Double4 u, t;
        row(node, u, t);
        simd4::store4(sum, u);
        simd4::store4(sum + 4, t);
        bool first = true;
        for (std::size_t o = 0; o < lattice.pins.size(); o++) {
            if (lattice.pins[o].node != node) continue;
            if (o < p) first = false;
            double f[8];
            pin_force(lattice, lattice.pins[o], field[node].v, f);
            for (int k = 0; k < 8; k++) {
                sum[k] += f[k];
                if (first) xq += double(field[node].v[k]) * f[k];
            }
        }
        for (int k = 0; k < 8; k++) q[node].v[k] = float(residual ? double(r[node].v[k]) - sum[k] : sum[k]);
    }
}

Balanced Solver::solve(double tolerance, double base_tolerance, int max_iterations, double load) {
    return solve(nullptr, tolerance, base_tolerance, max_iterations, load);
}
Balanced Solver::solve(double tolerance, int max_iterations, const Region& region) {
    multigrid.clear_border(region);
    for (const Chunk& c : region.border)
        for (const auto& [begin, end] : {std::pair{c.red, c.red_end}, std::pair{c.black, c.black_end}})
            for (std::size_t i = begin; i < end; i++) p_[i] = z_[i] = {};
    return solve(&region, tolerance, 1, max_iterations, 0);
}

void Solver::update_residual(const std::vector<Chunk>& nodes) {
    double unused;
    apply(nodes, x.data(), f.data(), r_.data(), true, unused, unused);
}

Balanced Solver::solve(const Region* region, double tolerance, double base_tolerance, int max_iterations,
                       double load) {
    Balanced result;
    const std::size_t n = lattice.nodes;
    const std::vector<Chunk>& nodes = region ? region->nodes : whole_;
    Six *const r = r_.data(), *const p = p_.data(), *const q = q_.data(), *const z = z_.data();
    double unused;
    if (n == 0) {
        result.ok = true;
        return result;
    }
    // Largest residual over its reference, and the sum of the vertical ones: what the base misses.
    struct Measure {
        Float8 largest = simd::splat(0);
        double vertical = 0;
        TALUS_INLINE void add(const Six& left, float reference) {
            largest = simd::max(largest, simd::abs(simd::load(left.v)) / simd::splat(reference));
            vertical += double(left.v[1]);
        }
        Sums sums() const {
            float v[8], most = 0;
            simd::store(v, largest);
            for (const float a : v) most = a <= most ? most : a;
            return {0, 0, most, vertical};
        }
    };
    const auto note = [&](const Sums& s) {
        result.imbalance = double(s.largest);
        result.base = load > 0 ? std::fabs(s.vertical) / load : 0;
        return result.imbalance <= tolerance && result.base <= base_tolerance;
    };
    const auto true_residual = [&] {
        apply(nodes, x.data(), f.data(), r, true, unused, unused);
        return note(sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
            Measure m;
            for (std::size_t i = begin; i < end; i++) m.add(r[i], reference[i]);
            return m.sums();
        }));
    };
    result.ok = true_residual();
    double pq = 1;
    bool fresh = true;  // no last direction
    int since = 0;
    while (!result.ok && result.iterations < std::uint32_t(max_iterations)) {
        multigrid.precondition(r, z, region);
        result.iterations++;
        const bool was_fresh = fresh;
        if (fresh) {
            sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
                std::memcpy(static_cast<void*>(p + begin), z + begin, (end - begin) * sizeof(Six));
                return Sums{0, 0, 0, 0};
            });
            fresh = false;
        } else {
            const double zq = sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
                                  Double4 sum = simd4::splat4(0);
                                  for (std::size_t i = begin; i < end; i++)
                                      sum = sum + (simd4::load4(z[i].v) * simd4::load4(q[i].v) +
                                                   simd4::load4(z[i].v + 4) * simd4::load4(q[i].v + 4));
                                  double a[4];
                                  simd4::store4(a, sum);
                                  return Sums{a[0] + a[1] + a[2] + a[3], 0, 0, 0};
                              }).first;
            const Float8 beta = simd::splat(float(-zq / pq));
            sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; i++)
                    simd::store(p[i].v, simd::load(z[i].v) + beta * simd::load(p[i].v));
                return Sums{0, 0, 0, 0};
            });
        }
        double pr;
        apply(nodes, p, r, q, false, pq, pr);
        if (!(pq > 0)) {  // nothing is left of the direction
            if (was_fresh) break;
            result.ok = true_residual();
            fresh = true;
            continue;
        }
        const double alpha = pr / pq;
        const Double4 step = simd4::splat4(alpha);
        const Float8 minus = simd::splat(float(-alpha));
        result.ok = note(sum_chunks(nodes, [&](std::size_t begin, std::size_t end) {
            Measure m;
            for (std::size_t i = begin; i < end; i++) {
                simd::store(r[i].v, simd::load(r[i].v) + minus * simd::load(q[i].v));
                simd4::store4(x[i].v, simd4::load4(x[i].v) + step * simd4::load4(p[i].v));
                simd4::store4(x[i].v + 4, simd4::load4(x[i].v + 4) + step * simd4::load4(p[i].v + 4));
                m.add(r[i], reference[i]);
            }
            return m.sums();
        }));
        // The running residual drifts from the true one by rounding: look at that one at the end, and now and
        // then on the way to a tight tolerance.
        if (result.ok || ++since == 30) {
            since = 0;
            result.ok = true_residual();
            fresh = true;
        }
    }
    return result;
}

std::size_t Solver::bytes() const {
    const auto of = [](const auto& v) { return v.capacity() * sizeof v[0]; };
    return lattice.bytes() + multigrid.bytes() + of(x) + of(f) + of(reference) + of(own_) + of(r_) + of(p_) +
           of(q_) + of(z_);
}

}  // namespace talus::physical
