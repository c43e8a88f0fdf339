#include "dynamics/solver.h"

#include "dynamics/jobs_in_chunks.h"

#include <array>

namespace talus {

struct Vec8 {
    Float8 x, y, z;
};

namespace {

constexpr float kHertz = 120;  // of the contact spring, at most half the sub step rate
constexpr float kDampingRatio = 10;
constexpr float kMostPush = 3;          // m/s, out of an overlap
constexpr float kMassScaling = 0.5f;    // of the lower body; from 0.7 on stacks explode
constexpr float kBounceSpeed = 1.5f;    // slower contacts do not bounce
constexpr float kScalingSpeed = 0.25f;  // faster contacts are not scaled: momentum stays exact in hits
constexpr int kInnerSweeps = 3;         // over the points of one manifold
constexpr int kColours = 64;
// Of those, for manifolds whose both sides move; the rest is for one that does not.
constexpr std::uint64_t kMoving = (std::uint64_t(1) << 44) - 1;
constexpr float kLeastInverse = 1e-11f;  // 1/kg: what is heavier does not move
constexpr float kPi = 3.14159265f;

TALUS_INLINE Vec8 operator+(Vec8 a, Vec8 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
TALUS_INLINE Vec8 operator-(Vec8 a, Vec8 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
TALUS_INLINE Vec8 operator*(Vec8 a, Float8 s) { return {a.x * s, a.y * s, a.z * s}; }
TALUS_INLINE Vec8 cross8(const Vec8& a, const Vec8& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
TALUS_INLINE Float8 dot8(const Vec8& a, const Vec8& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/// Eight bodies' velocities as columns.
struct Velocity8 {
    Vec8 linear;
    Float8 inverse_mass;
    Vec8 spin;
    Float8 unused;
};
static_assert(sizeof(Velocity8) == 8 * sizeof(Float8));

TALUS_INLINE Velocity8 gather(const std::vector<SolverVelocity>& from, const std::int32_t (&bodies)[8]) {
    Float8 r[8];
    for (int k = 0; k < 8; k++) r[k] = simd::load(&from[std::size_t(bodies[k])].linear.x);
    transpose(r);
    return {{r[0], r[1], r[2]}, r[3], {r[4], r[5], r[6]}, r[7]};
}

/// Only lanes of `moving`: several batches at once may share what does not move.
TALUS_INLINE void scatter(std::vector<SolverVelocity>& to, const std::int32_t (&bodies)[8], unsigned moving,
                          const Velocity8& v) {
    if (!moving) return;
    Float8 r[8] = {v.linear.x, v.linear.y, v.linear.z, v.inverse_mass,
                   v.spin.x,   v.spin.y,   v.spin.z,   v.unused};
    transpose(r);
    for (int k = 0; k < 8; k++)
        if (moving >> k & 1) simd::store(&to[std::size_t(bodies[k])].linear.x, r[k]);
}

/// Inverse of an effective mass, zero where nothing moves.
TALUS_INLINE Float8 inverse_or_zero(Float8 k) {
    return keep(k > simd::splat(kLeastInverse), simd::splat(1) / k);
}

/// How a soft contact behaves in one sub step.
struct Softness {
    float bias_rate, mass_scale, impulse_scale;
};
Softness soften(float hertz, float ratio, float h) {
    const float omega = 2 * kPi * hertz;
    const float a1 = 2 * ratio + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    return {omega / a1, a2 * a3, a3};
}

}  // namespace

template <int kPoints>
struct alignas(32) ContactBatch {
    static constexpr int kFriction = kPoints > 1 ? 3 : 2;  // two tangents, and twist for more than a point

    std::int32_t a[8], b[8], manifold[8];
    unsigned moving_a, moving_b;  // lanes whose body moves
    Vec8 normal, tangent, second;
    Float8 mass_a, mass_b;    // inverse masses
    Float8 scale_a, scale_b;  // of inverse masses in increments
    Float8 friction, restitution;
    struct Point {
        Vec8 row_a, row_b;  // spin rows
        Float8 separation;  // at the start
        Float8 mass;        // effective
        Float8 impulse, total;
        Float8 lever;     // from the middle of the points, for twist
        Float8 current;   // separation in this sub step
        Float8 approach;  // normal velocity before the first push of the step
    } points[kPoints];
    struct Friction {
        Vec8 row_a, row_b;
        Float8 mass, impulse;
    } frictions[kFriction];
};

namespace {

struct FrameColumns {
    Float8 c[24];
    TALUS_INLINE Vec8 rotate(Vec8 v) const {
        return {c[0] * v.x + c[1] * v.y + c[2] * v.z, c[3] * v.x + c[4] * v.y + c[5] * v.z,
                c[6] * v.x + c[7] * v.y + c[8] * v.z};
    }
    TALUS_INLINE Vec8 to_spin(Vec8 v) const {
        return {c[9] * v.x + c[10] * v.y + c[11] * v.z, c[12] * v.x + c[13] * v.y + c[14] * v.z,
                c[15] * v.x + c[16] * v.y + c[17] * v.z};
    }
    TALUS_INLINE Float8 inverse_mass() const { return c[18]; }
};

TALUS_INLINE void load_frames(const std::vector<SolverFrame>& frames, const std::int32_t (&bodies)[8],
                              FrameColumns& out) {
    for (int g = 0; g < 3; g++) {
        Float8 r[8];
        for (int k = 0; k < 8; k++)
            r[k] = simd::load(&frames[std::size_t(bodies[k])].rotation.m[0][0] + 8 * g);
        transpose(r);
        for (int k = 0; k < 8; k++) out.c[8 * g + k] = r[k];
    }
}

/// A manifold and the places of its bodies.
struct Lane {
    std::int32_t manifold, a, b;
};

/// What a batch is made of.
struct Lanes {
    std::int32_t manifold[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, a[8] = {}, b[8] = {};
    void set(int lane, const Lane& from) {
        manifold[lane] = from.manifold;
        a[lane] = from.a;
        b[lane] = from.b;
    }
};

template <int kPoints>
void prepare(ContactBatch<kPoints>& q, const Lanes& lanes, const std::vector<Manifold>& manifolds,
             const std::vector<SolverFrame>& frames, const std::vector<SolverVelocity>& velocities,
             const SolverSettings& settings, float warm_scale) {
    static const Manifold nothing{};
    const Manifold* m[8];
    for (int k = 0; k < 8; k++) {
        q.manifold[k] = lanes.manifold[k];
        m[k] = q.manifold[k] >= 0 ? &manifolds[std::size_t(q.manifold[k])] : &nothing;
        q.a[k] = lanes.a[k];
        q.b[k] = lanes.b[k];
    }
    FrameColumns fa, fb;
    load_frames(frames, q.a, fa);
    load_frames(frames, q.b, fb);
    const Float8 zero = simd::splat(0), one = simd::splat(1), half = simd::splat(0.5f),
                 warm = simd::splat(warm_scale);
    q.mass_a = fa.inverse_mass();
    q.mass_b = fb.inverse_mass();
    q.moving_a = unsigned(bits(q.mass_a > zero));
    q.moving_b = unsigned(bits(q.mass_b > zero));

    Float8 r[8];
    for (int k = 0; k < 8; k++) r[k] = simd::load(&m[k]->normal.x);
    transpose(r);
    const Velocity8 va = gather(velocities, q.a), vb = gather(velocities, q.b);
    q.normal = fa.rotate({r[0], r[1], r[2]});
    q.tangent = fa.rotate({r[3], r[4], r[5]});
    q.second = cross8(q.normal, q.tangent);

    for (int k = 0; k < 8; k++) r[k] = simd::load(m[k]->friction_impulse);
    transpose(r);
    const Float8 old_friction[3] = {r[0] * warm, r[1] * warm, r[2] * warm};
    const Vec8 offset = fa.rotate({r[3], r[4], r[5]});
    q.friction = r[6];
    q.restitution = r[7];

    const Vec8 relative = vb.linear - va.linear;
    Vec8 arm_a[kPoints], middle_a{zero, zero, zero}, middle_b{zero, zero, zero};
    Vec8 arms_b[kPoints];
    Float8 fastest = zero;
    for (int p = 0; p < kPoints; p++) {
        for (int k = 0; k < 8; k++) r[k] = simd::load(&m[k]->points[p].on_a.x);
        transpose(r);
        auto& c = q.points[p];
        const Vec8 anchor_a = fa.rotate({r[0], r[1], r[2]}),
                   anchor_b = offset + fb.rotate({r[3], r[4], r[5]});
        c.impulse = r[6] * warm;
        c.total = zero;
        const Vec8 apart = anchor_b - anchor_a;
        c.separation = dot8(apart, q.normal);
        c.current = c.separation;
        // Both sides act at one place, half way: angular momentum is kept.
        arm_a[p] = anchor_a + apart * half;
        arms_b[p] = arm_a[p] - offset;
        c.row_a = fa.to_spin(cross8(arm_a[p], q.normal));
        c.row_b = fb.to_spin(cross8(arms_b[p], q.normal));
        c.approach = zero;
        fastest =
            max(fastest, abs(dot8(relative, q.normal) + dot8(c.row_b, vb.spin) - dot8(c.row_a, va.spin)));
        middle_a = middle_a + arm_a[p];
        middle_b = middle_b + arms_b[p];
    }

    // The lower body of a slow contact yields less.
    const Vec3 up = settings.up;
    const Float8 height =
        q.normal.x * simd::splat(up.x) + q.normal.y * simd::splat(up.y) + q.normal.z * simd::splat(up.z);
    const Float8 scaling =
        keep(simd::splat(kScalingSpeed) > fastest, simd::splat(settings.stacks ? kMassScaling : 0.0f));
    q.scale_a = one - scaling * max(height, zero);
    q.scale_b = one - scaling * max(-height, zero);
    const Float8 masses = q.mass_a * q.scale_a + q.mass_b * q.scale_b;

    for (int p = 0; p < kPoints; p++) {
        auto& c = q.points[p];
        c.mass =
            inverse_or_zero(masses + dot8(c.row_a, c.row_a) * q.scale_a + dot8(c.row_b, c.row_b) * q.scale_b);
    }
    const Float8 share = simd::splat(1.0f / float(kPoints));
    middle_a = middle_a * share;
    middle_b = middle_b * share;
    for (int p = 0; p < kPoints; p++) {
        const Vec8 e = arm_a[p] - middle_a;
        q.points[p].lever = sqrt(dot8(e, e));
    }
    auto friction_row = [&](int i, const Vec8& ra, const Vec8& rb, Float8 linear) {
        auto& f = q.frictions[i];
        f.row_a = ra;
        f.row_b = rb;
        f.mass = inverse_or_zero(linear + dot8(ra, ra) + dot8(rb, rb));
        f.impulse = old_friction[i];
    };
    friction_row(0, fa.to_spin(cross8(middle_a, q.tangent)), fb.to_spin(cross8(middle_b, q.tangent)),
                 q.mass_a + q.mass_b);
    friction_row(1, fa.to_spin(cross8(middle_a, q.second)), fb.to_spin(cross8(middle_b, q.second)),
                 q.mass_a + q.mass_b);
    if constexpr (kPoints > 1) friction_row(2, fa.to_spin(q.normal), fb.to_spin(q.normal), zero);
}

template <int kPoints>
void warm_start(const ContactBatch<kPoints>& q, std::vector<SolverVelocity>& velocities) {
    Velocity8 a = gather(velocities, q.a), b = gather(velocities, q.b);
    Float8 sum = simd::splat(0);
    for (const auto& c : q.points) {
        sum = sum + c.impulse;
        a.spin = a.spin - c.row_a * c.impulse;
        b.spin = b.spin + c.row_b * c.impulse;
    }
    for (const auto& f : q.frictions) {
        a.spin = a.spin - f.row_a * f.impulse;
        b.spin = b.spin + f.row_b * f.impulse;
    }
    const Vec8 impulse =
        q.normal * sum + q.tangent * q.frictions[0].impulse + q.second * q.frictions[1].impulse;
    a.linear = a.linear - impulse * q.mass_a;
    b.linear = b.linear + impulse * q.mass_b;
    scatter(velocities, q.a, q.moving_a, a);
    scatter(velocities, q.b, q.moving_b, b);
}

/// One pass over a batch: with bias, normals only; without, friction first, then normals.
template <int kPoints, bool kBias>
void solve_batch(ContactBatch<kPoints>& q, std::vector<SolverVelocity>& velocities,
                 const std::vector<SolverVelocity>& motions, const Softness& soft, float inverse_h,
                 bool moved) {
    Velocity8 a = gather(velocities, q.a), b = gather(velocities, q.b);
    const Float8 zero = simd::splat(0), one = simd::splat(1);
    const Float8 mass_a = q.mass_a * q.scale_a, mass_b = q.mass_b * q.scale_b, masses = mass_a + mass_b;
    Vec8 relative = b.linear - a.linear;

    if constexpr (!kBias) {
        Float8 sum = zero, twist_limit = zero;
        for (const auto& c : q.points) {
            sum = sum + c.impulse;
            if constexpr (kPoints > 1) twist_limit = twist_limit + c.impulse * c.lever;
        }
        if constexpr (kPoints > 1) {
            auto& f = q.frictions[2];
            const Float8 speed = dot8(f.row_b, b.spin) - dot8(f.row_a, a.spin);
            const Float8 limit = q.friction * twist_limit;
            const Float8 wanted = max(min(f.impulse - f.mass * speed, limit), -limit);
            const Float8 change = wanted - f.impulse;
            f.impulse = wanted;
            a.spin = a.spin - f.row_a * change;
            b.spin = b.spin + f.row_b * change;
        }
        auto &f = q.frictions[0], &g = q.frictions[1];
        const Float8 speed1 = dot8(q.tangent, relative) + dot8(f.row_b, b.spin) - dot8(f.row_a, a.spin);
        const Float8 speed2 = dot8(q.second, relative) + dot8(g.row_b, b.spin) - dot8(g.row_a, a.spin);
        const Float8 want1 = f.impulse - f.mass * speed1, want2 = g.impulse - g.mass * speed2;
        const Float8 limit = q.friction * sum, size2 = want1 * want1 + want2 * want2;
        const Float8 scale =
            select(size2 > limit * limit, limit / sqrt(max(size2, simd::splat(1e-20f))), one);
        const Float8 change1 = want1 * scale - f.impulse, change2 = want2 * scale - g.impulse;
        f.impulse = want1 * scale;
        g.impulse = want2 * scale;
        const Vec8 push = q.tangent * change1 + q.second * change2;
        a.linear = a.linear - push * q.mass_a;
        b.linear = b.linear + push * q.mass_b;
        relative = relative + push * (q.mass_a + q.mass_b);
        a.spin = a.spin - (f.row_a * change1 + g.row_a * change2);
        b.spin = b.spin + (f.row_b * change1 + g.row_b * change2);
    }

    if constexpr (kBias) {
        if (moved) {
            const Velocity8 x = gather(motions, q.a), y = gather(motions, q.b);
            const Float8 apart = dot8(y.linear - x.linear, q.normal);
            for (auto& c : q.points)
                c.current = c.separation + apart + dot8(c.row_b, y.spin) - dot8(c.row_a, x.spin);
        }
    }
    Float8 normal_speed = dot8(q.normal, relative), sum = zero;
    if constexpr (kBias)
        for (auto& c : q.points)
            c.approach = select(c.total > zero, c.approach,
                                normal_speed + dot8(c.row_b, b.spin) - dot8(c.row_a, a.spin));
    const Float8 bias_rate = simd::splat(soft.bias_rate), mass_scale = simd::splat(soft.mass_scale),
                 impulse_scale = simd::splat(soft.impulse_scale), most_push = simd::splat(-kMostPush),
                 per_second = simd::splat(inverse_h);
    constexpr int kSweeps = kPoints > 1 ? kInnerSweeps : 1;
    for (int sweep = 0; sweep < kSweeps; sweep++)
        for (int i = 0; i < kPoints; i++) {
            auto& c = q.points[(sweep & 1) ? kPoints - 1 - i : i];
            const Float8 speed = normal_speed + dot8(c.row_b, b.spin) - dot8(c.row_a, a.spin);
            Float8 change;
            if constexpr (kBias) {
                const Float8 s = c.current;
                const Mask8 apart = s > zero;
                const Float8 bias = select(apart, s * per_second, max(bias_rate * min(s, zero), most_push));
                change = -(c.mass * (speed + bias)) * select(apart, one, mass_scale) -
                         select(apart, zero, impulse_scale) * c.impulse;
            } else {
                // Points still apart that did not push are left alone.
                change = keep((c.impulse > zero) | (zero > c.current), -(c.mass * speed));
            }
            const Float8 wanted = max(c.impulse + change, zero);
            change = wanted - c.impulse;
            c.impulse = wanted;
            sum = sum + change;
            normal_speed = normal_speed + change * masses;
            a.spin = a.spin - c.row_a * (change * q.scale_a);
            b.spin = b.spin + c.row_b * (change * q.scale_b);
        }
    const Vec8 impulse = q.normal * sum;
    a.linear = a.linear - impulse * mass_a;
    b.linear = b.linear + impulse * mass_b;
    if constexpr (!kBias)
        for (auto& c : q.points) c.total = c.total + c.impulse;
    scatter(velocities, q.a, q.moving_a, a);
    scatter(velocities, q.b, q.moving_b, b);
}

template <int kPoints>
void bounce(ContactBatch<kPoints>& q, std::vector<SolverVelocity>& velocities) {
    const Float8 zero = simd::splat(0);
    Mask8 hit[kPoints];
    int any = 0;
    for (int p = 0; p < kPoints; p++) {
        const auto& c = q.points[p];
        // Without restitution too: what the soft contact left of the speed goes.
        hit[p] = (simd::splat(-kBounceSpeed) > c.approach) & (c.total > zero);
        any |= bits(hit[p]);
    }
    if (!any) return;
    Velocity8 a = gather(velocities, q.a), b = gather(velocities, q.b);
    const Float8 masses = q.mass_a + q.mass_b;
    Float8 normal_speed = dot8(q.normal, b.linear - a.linear), sum = zero;
    constexpr int kSweeps = kPoints > 1 ? 2 * kInnerSweeps : 1;
    for (int sweep = 0; sweep < kSweeps; sweep++)
        for (int i = 0; i < kPoints; i++) {
            const int p = (sweep & 1) ? kPoints - 1 - i : i;
            auto& c = q.points[p];
            const Float8 speed = normal_speed + dot8(c.row_b, b.spin) - dot8(c.row_a, a.spin);
            const Float8 mass = inverse_or_zero(masses + dot8(c.row_a, c.row_a) + dot8(c.row_b, c.row_b));
            Float8 change = keep(hit[p], -(mass * (speed + q.restitution * c.approach)));
            const Float8 wanted = max(c.total + change, zero);
            change = wanted - c.total;
            c.total = wanted;
            sum = sum + change;
            normal_speed = normal_speed + change * masses;
            a.spin = a.spin - c.row_a * change;
            b.spin = b.spin + c.row_b * change;
        }
    a.linear = a.linear - q.normal * (sum * q.mass_a);
    b.linear = b.linear + q.normal * (sum * q.mass_b);
    scatter(velocities, q.a, q.moving_a, a);
    scatter(velocities, q.b, q.moving_b, b);
}

/// What is no number, or beyond all sense, is not kept for the next step: bodies that got such a push are
/// quarantined, and what they touched must not be.
TALUS_INLINE Float8 tame(Float8 x) { return keep(simd::splat(1e17f) > abs(x), x); }

template <int kPoints>
void store_batch(const ContactBatch<kPoints>& q, std::vector<Manifold>& manifolds) {
    alignas(32) float impulse[kPoints][8], separation[kPoints][8], total[8], approach[8],
        friction[ContactBatch<kPoints>::kFriction][8];
    Float8 sum = simd::splat(0), fastest = simd::splat(0);
    for (int p = 0; p < kPoints; p++) {
        const auto& c = q.points[p];
        simd::store(impulse[p], tame(c.impulse));
        simd::store(separation[p], tame(c.current));
        sum = sum + c.total;
        fastest = max(fastest, -c.approach);
    }
    simd::store(total, tame(sum));
    simd::store(approach, tame(fastest));
    for (int i = 0; i < ContactBatch<kPoints>::kFriction; i++)
        simd::store(friction[i], tame(q.frictions[i].impulse));
    for (int k = 0; k < 8; k++) {
        if (q.manifold[k] < 0) continue;
        Manifold& m = manifolds[std::size_t(q.manifold[k])];
        for (int p = 0; p < kPoints; p++) {
            m.points[p].impulse = impulse[p][k];
            m.points[p].separation = separation[p][k];
        }
        for (int i = 0; i < ContactBatch<kPoints>::kFriction; i++) m.friction_impulse[i] = friction[i][k];
        m.total_impulse = total[k];
        m.approach_speed = approach[k];
    }
}

}  // namespace

/// Contacts that one thread solves: those of a part, or those between two halves.
struct ContactSolver::Node {
    std::vector<Lane> lists[kColours][4];  // manifolds by colour and point count
    std::vector<Lane> overflow[2][4];      // what fitted no colour; those with one side that does not move
    std::uint64_t colours = 0;             // those that have any
    std::vector<Lanes> lanes[4];           // of batches, by point count
    std::vector<std::array<std::size_t, 4>> ends;  // of batches, by colour
    std::vector<ContactBatch<1>> one;
    std::vector<ContactBatch<2>> two;
    std::vector<ContactBatch<3>> three;
    std::vector<ContactBatch<4>> four;

    void clear() {
        for (; colours; colours &= colours - 1)
            for (auto& list : lists[__builtin_ctzll(colours)]) list.clear();
        for (auto& by_count : overflow)
            for (auto& list : by_count) list.clear();
    }
    /// f(batch, its place in its list, points - 1), colour by colour.
    template <class F>
    void each_at(F&& f) {
        std::size_t at[4] = {};
        for (const auto& end : ends) {
            for (; at[0] < end[0]; at[0]++) f(one[at[0]], at[0], 0);
            for (; at[1] < end[1]; at[1]++) f(two[at[1]], at[1], 1);
            for (; at[2] < end[2]; at[2]++) f(three[at[2]], at[2], 2);
            for (; at[3] < end[3]; at[3]++) f(four[at[3]], at[3], 3);
        }
    }
    template <class F>
    void each(F&& f) {
        each_at([&](auto& batch, std::size_t, int) { f(batch); });
    }
};

ContactSolver::ContactSolver() = default;
ContactSolver::~ContactSolver() = default;

void ContactSolver::drop_scratch() {
    drop(velocity);
    drop(motion);
    drop(frame);
    drop(drives);
    drop(place);
    drop(nodes_);
    drop(used_);
    drop(used_between_);
    drop(tails_);
    drop(part_of_);
}

void ContactSolver::colour(const PairTable& table, const std::vector<ActivePair>& active) {
    nodes_.resize(parts.nodes());
    for (Node& node : nodes_) node.clear();
    const auto n = std::size_t(parts.first[parts.count()]);  // places from here on are not pushed
    for (auto* by_place : {&used_, &used_between_, &tails_}) {
        resize_scratch(*by_place, n);
        std::fill(by_place->begin(), by_place->end(), 0);
    }
    resize_scratch(part_of_, n);
    for (std::size_t p = 0; p < parts.count(); p++)
        std::fill(part_of_.begin() + parts.first[p], part_of_.begin() + parts.first[p + 1], std::uint8_t(p));
    part_of_[0] = 0;
    for (std::size_t i = 0; i < active.size(); i++) {
        if (i + 12 < active.size())
            __builtin_prefetch(&table.manifolds[std::size_t(active[i + 12].first)].count);
        const ActivePair& p = active[i];
        Lane lane{-1, place[std::size_t(p.a)], place[std::size_t(p.b)]};
        const bool a_moves = parts.pushed(lane.a), b_moves = parts.pushed(lane.b), both = a_moves && b_moves;
        // Twice the same where only one moves; the world where none does.
        const std::size_t a = a_moves   ? std::size_t(lane.a)
                              : b_moves ? std::size_t(lane.b)
                                        : 0,
                          b = b_moves ? std::size_t(lane.b) : a;
        const std::size_t part_a = part_of_[a], part_b = part_of_[b];
        Node& node = nodes_[Parts::node_of(part_a, part_b)];
        std::vector<std::uint64_t>& used = part_a == part_b ? used_ : used_between_;
        for (lane.manifold = p.first; lane.manifold >= 0;) {
            const Manifold& m = table.manifolds[std::size_t(lane.manifold)];
            const std::uint64_t free = ~(used[a] | used[b]) & (both ? kMoving : ~kMoving);
            if (free) {
                const std::uint64_t colour = free & -free;
                used[a] |= colour;
                used[b] |= colour;
                node.colours |= colour;
                node.lists[__builtin_ctzll(free)][m.count - 1].push_back(lane);
            } else {
                node.overflow[both ? 0 : 1][m.count - 1].push_back(lane);
            }
            lane.manifold = m.next;
        }
    }
    // Those between parts share bodies; parts are packed where they are prepared.
    for (std::size_t i = 1; i < nodes_.size(); i += 2) pack(nodes_[i], i);
}

/// Fills batches of eight. What is left of each colour, fewer than eight manifolds, goes into tails:
/// whichever first has room and none of its bodies.
void ContactSolver::pack(Node& node, std::size_t index) {
    constexpr int kTails = 64;
    for (auto& list : node.lanes) clear_scratch(list);
    node.ends.clear();
    int tails = 0;  // so far
    for (const int side : {0, 1}) {
        const std::uint64_t colours = node.colours & (side ? ~kMoving : kMoving);
        std::size_t ends[4];
        for (std::uint64_t left = colours; left; left &= left - 1) {
            for (int k = 0; k < 4; k++) {
                const std::vector<Lane>& list = node.lists[__builtin_ctzll(left)][k];
                for (std::size_t i = 0; i + 8 <= list.size(); i += 8) {
                    Lanes& lanes = node.lanes[k].emplace_back();
                    for (int j = 0; j < 8; j++) lanes.set(j, list[i + std::size_t(j)]);
                }
                ends[k] = node.lanes[k].size();
            }
            node.ends.push_back({ends[0], ends[1], ends[2], ends[3]});
        }
        for (int k = 0; k < 4; k++) {
            std::size_t at[kTails];  // of tails, in lanes
            int filled[kTails];
            std::uint64_t open = 0;
            const auto put = [&](const Lane& lane) {
                std::uint64_t none = 0;
                std::uint64_t &of_a = parts.pushed(lane.a) ? tails_[std::size_t(lane.a)] : none,
                              &of_b = parts.pushed(lane.b) ? tails_[std::size_t(lane.b)] : none;
                int tail;
                if (const std::uint64_t fits = open & ~(of_a | of_b)) {
                    tail = __builtin_ctzll(fits);
                } else {
                    node.lanes[k].emplace_back();
                    if (tails == kTails) return node.lanes[k].back().set(0, lane);
                    tail = tails++;
                    at[tail] = node.lanes[k].size() - 1;
                    filled[tail] = 0;
                    open |= std::uint64_t(1) << tail;
                }
                node.lanes[k][at[tail]].set(filled[tail]++, lane);
                const std::uint64_t bit = std::uint64_t(1) << tail;
                if (filled[tail] == 8) open &= ~bit;
                of_a |= bit;
                of_b |= bit;
            };
            for (std::uint64_t left = colours; left; left &= left - 1) {
                const std::vector<Lane>& list = node.lists[__builtin_ctzll(left)][k];
                for (std::size_t i = list.size() & ~std::size_t(7); i < list.size(); i++) put(list[i]);
            }
            for (const Lane& lane : node.overflow[side][k]) put(lane);
            ends[k] = node.lanes[k].size();
        }
        node.ends.push_back({ends[0], ends[1], ends[2], ends[3]});
    }
    const auto [begin, end] = parts.places_of(index);
    std::fill(tails_.begin() + begin, tails_.begin() + end, 0);
}

/// A sub step's forces on the bodies of a part.
void ContactSolver::drive(std::size_t part, float h) {
    for (auto k = std::size_t(parts.first[part]); k < std::size_t(parts.first[part + 1]); k++) {
        const SolverDrive& d = drives[k - 1];
        SolverVelocity& v = velocity[k];
        v.linear = (v.linear + d.acceleration * h) * d.linear_keep;
        v.spin = (v.spin + d.spin_rate * h) * d.angular_keep;
    }
}

void ContactSolver::move(std::size_t part, float h) {
    for (auto k = std::size_t(parts.first[part]); k < std::size_t(parts.first[part + 1]); k++) {
        const SolverVelocity& v = velocity[k];
        SolverVelocity& m = motion[k];
        m.linear += v.linear * h;
        m.spin += v.spin * h;
    }
}

/// f(part, node)
template <class F>
void ContactSolver::each_part(JobSystem* jobs, F&& f) {
    in_chunks(jobs, parts.count(), [&](std::size_t i) { f(i, nodes_[2 * i]); });
}

/// f(node) for the contacts between two halves of so many parts each.
template <class F>
void ContactSolver::between_parts(JobSystem* jobs, std::size_t halves, F&& f) {
    in_chunks(jobs, parts.count() / (2 * halves),
              [&](std::size_t i) { f(nodes_[2 * halves - 1 + 4 * halves * i]); });
}

void ContactSolver::solve(PairTable& table, const SolverSettings& settings) {
    JobSystem* const jobs = settings.jobs;
    const float h = settings.h, inverse_h = 1 / h;
    const float hertz = 0.5f * inverse_h < kHertz ? 0.5f * inverse_h : kHertz;
    const Softness soft = soften(hertz, kDampingRatio, h);
    const float warm = last_h_ > 0 ? settings.h / last_h_ : 1;
    last_h_ = settings.h;
    const std::size_t count = parts.count(), unpushed = count;  // the part of what contacts do not move

    in_chunks(jobs, nodes_.size(), [&](std::size_t i) {
        Node& node = nodes_[i];
        if (i % 2 == 0) pack(node, i);
        resize_scratch(node.one, node.lanes[0].size());
        resize_scratch(node.two, node.lanes[1].size());
        resize_scratch(node.three, node.lanes[2].size());
        resize_scratch(node.four, node.lanes[3].size());
        node.each_at([&](auto& batch, std::size_t at, int k) {
            const std::vector<Lanes>& lanes = node.lanes[k];
            if (at + 1 < lanes.size())
                for (const std::int32_t m : lanes[at + 1].manifold) {
                    if (m < 0) break;
                    const auto* ahead = reinterpret_cast<const char*>(&table.manifolds[std::size_t(m)]);
                    __builtin_prefetch(ahead);
                    __builtin_prefetch(ahead + 64);
                    __builtin_prefetch(ahead + 128);
                }
            prepare(batch, lanes[at], table.manifolds, frame, velocity, settings, warm);
        });
    });

    const auto relax = [&](Node& node) {
        node.each([&]<int kPoints>(ContactBatch<kPoints>& q) {
            solve_batch<kPoints, false>(q, velocity, motion, soft, inverse_h, true);
        });
    };
    for (int s = 0; s < settings.sub_steps; s++) {
        const auto push = [&](Node& node) {
            node.each([&]<int kPoints>(ContactBatch<kPoints>& q) {
                solve_batch<kPoints, true>(q, velocity, motion, soft, inverse_h, s > 0);
            });
        };
        const auto warm_up = [&](Node& node) { node.each([&](auto& q) { warm_start(q, velocity); }); };
        each_part(jobs, [&](std::size_t part, Node& node) {
            if (s > 0) relax(node);
            drive(part, h);
            warm_up(node);
        });
        drive(unpushed, h);
        for (std::size_t halves = 1; halves < count; halves *= 2) between_parts(jobs, halves, warm_up);
        for (std::size_t halves = count / 2; halves > 0; halves /= 2) between_parts(jobs, halves, push);
        each_part(jobs, [&](std::size_t part, Node& node) {
            push(node);
            move(part, h);
        });
        move(unpushed, h);
        for (std::size_t halves = count / 2; halves > 0; halves /= 2) between_parts(jobs, halves, relax);
    }
    each_part(jobs, [&](std::size_t, Node& node) { relax(node); });

    const auto finish = [&](Node& node) {
        node.each([&](auto& q) {
            bounce(q, velocity);
            store_batch(q, table.manifolds);
        });
    };
    for (std::size_t halves = count / 2; halves > 0; halves /= 2) between_parts(jobs, halves, finish);
    each_part(jobs, [&](std::size_t, Node& node) { finish(node); });
}

}  // namespace talus
