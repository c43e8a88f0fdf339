#include "dynamics/sleep.h"

#include "dynamics/jobs_in_chunks.h"

namespace talus {

namespace {
constexpr float kQuietTime = 0.5f;        // s
constexpr float kStillTime = 2;           // s after which a quiet body need not be slow at this moment
constexpr float kSettleTime = 0.2f;       // s of that after which a slow body may support sleepers
constexpr float kSettleSpeed = 0.03f;     // m/s, of any point
constexpr float kSwaySpeed = 0.5f;        // the same for what has been quiet for long
constexpr float kQuietMotion = 0.02f;     // m, of any point of the body, in that time
constexpr std::uint32_t kSleepEvery = 8;  // internal steps between searches
constexpr float kDeepest = 0.04f;         // m: deeper contacts are pushed apart first
constexpr float kSupports = 0.2f;         // cosine to up above which a contact carries
constexpr float kLeastShare = 0.1f;       // of a body's weight: weaker contacts do not support it
constexpr float kHitSpeed = 0.5f;         // m/s of the sleeper's own mass
constexpr float kSlowest = 0.3f;          // m/s: slower ones do not hit
constexpr float kSupportMotion = 0.02f;   // m
constexpr std::size_t kChunk = 256;       // bodies

float height_of(const BodyHot& a, const Manifold& m, Vec3 up) { return dot(a.rotation * m.normal, up); }

}  // namespace

void Sleep::update(BodyStore& bodies, PairTable& table, const Step& step, std::vector<std::int32_t>& wake) {
    steps_++;
    count_quiet(bodies, step);
    find_wakers(bodies, table, step, wake);
    if (steps_ % kSleepEvery == 0) find_sleepers(bodies, table, step);
}

void Sleep::find_hit(const BodyStore& bodies, const PairTable& table, const std::vector<std::int32_t>& beside,
                     float dt, std::vector<std::int32_t>& wake) const {
    for (const std::int32_t index : beside) {
        const Pair& p = table.pairs[std::size_t(index)];
        if (p.b == 0) continue;
        const BodyHot &a = bodies.hot[std::size_t(p.a)], &b = bodies.hot[std::size_t(p.b)];
        if (a.asleep == b.asleep) continue;
        const std::int32_t sleeper = a.asleep ? p.a : p.b, other = a.asleep ? p.b : p.a;
        const BodyHot& o = bodies.hot[std::size_t(other)];
        if (!o.dynamic) {  // kinematic, and moving: else the pair would not be active
            wake.push_back(sleeper);
            continue;
        }
        const float mass_o = bodies.cold[std::size_t(other)].mass,
                    mass_s = bodies.cold[std::size_t(sleeper)].mass;
        for (std::int32_t m = p.first; m >= 0; m = table.manifolds[std::size_t(m)].next) {
            const Manifold& q = table.manifolds[std::size_t(m)];
            const Vec3 towards = a.rotation * q.normal * (a.asleep ? -1.0f : 1.0f);
            float fastest = 0;
            for (int k = 0; k < q.count; k++) {
                const Vec3 arm = o.rotation * (a.asleep ? q.points[k].on_b : q.points[k].on_a);
                const float speed = dot(o.velocity + cross(o.spin, arm), towards);
                if (q.points[k].separation < speed * dt && speed > fastest) fastest = speed;
            }
            if (fastest > kSlowest && fastest * mass_o > kHitSpeed * mass_s) {
                wake.push_back(sleeper);
                break;
            }
        }
    }
}

void Sleep::count_quiet(BodyStore& bodies, const Step& step) {
    auto count = [&](std::int32_t i) {
        const BodyHot& h = bodies.hot[std::size_t(i)];
        BodyCold& c = bodies.cold[std::size_t(i)];
        const Vec3 d = to_float(h.position - c.rest_position);
        const Quat &p = c.rotation, &q = c.rest_rotation;
        const float cosine = std::fabs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
        const float angle = std::sqrt(cosine < 1 ? 8 * (1 - cosine) : 0.0f);
        if (dot(d, d) > kQuietMotion * kQuietMotion || angle * h.radius > kQuietMotion) {
            c.rest_position = h.position;
            c.rest_rotation = c.rotation;
            c.quiet_time = 0;
        } else {
            c.quiet_time += step.dt;
        }
    };
    const std::vector<std::int32_t>& awake = *step.awake;
    in_chunks(step.jobs, (awake.size() + kChunk - 1) / kChunk, [&](std::size_t chunk) {
        for (std::size_t k = chunk * kChunk; k < (chunk + 1) * kChunk && k < awake.size(); k++)
            count(awake[k]);
    });
}

void Sleep::find_wakers(BodyStore& bodies, PairTable& table, const Step& step,
                        std::vector<std::int32_t>& wake) {
    added_load_.resize(bodies.hot.size(), 0);
    carried_load_.resize(bodies.hot.size(), 0);
    loaded_bodies_.clear();
    for (const std::int32_t index : *step.beside) {
        const Pair& p = table.pairs[std::size_t(index)];
        if (p.b == 0) continue;
        const BodyHot &a = bodies.hot[std::size_t(p.a)], &b = bodies.hot[std::size_t(p.b)];
        if (a.asleep == b.asleep) continue;
        const std::int32_t sleeper = a.asleep ? p.a : p.b, other = a.asleep ? p.b : p.a;
        const BodyHot& o = bodies.hot[std::size_t(other)];
        const BodyCold &sc = bodies.cold[std::size_t(sleeper)], &oc = bodies.cold[std::size_t(other)];
        float force = 0;
        bool may_carry = false;  // the other is not clearly above the sleeper
        for (std::int32_t m = p.first; m >= 0; m = table.manifolds[std::size_t(m)].next) {
            const Manifold& q = table.manifolds[std::size_t(m)];
            force += q.total_impulse;
            const float y = height_of(a, q, step.up);
            if ((sleeper == p.b ? y : -y) > -kSupports) may_carry = true;
        }
        force /= step.dt;
        if (added_load_[std::size_t(sleeper)] == 0 && carried_load_[std::size_t(sleeper)] == 0)
            loaded_bodies_.push_back(sleeper);
        added_load_[std::size_t(sleeper)] += force > p.load ? force - p.load : 0;
        carried_load_[std::size_t(sleeper)] += p.load;
        if (force > 0) {
            const float speed = length((*step.velocity_before)[std::size_t(other)]);
            if (speed > kSlowest && speed * oc.mass > kHitSpeed * sc.mass) wake.push_back(sleeper);
        }
        if (may_carry && p.load > 0 && oc.quiet_time < kQuietTime) {
            const Vec3 d = to_float(o.position - oc.sleep_position);
            if (dot(d, d) > kSupportMotion * kSupportMotion) wake.push_back(sleeper);
        }
    }
    for (const std::int32_t i : loaded_bodies_) {
        const auto k = std::size_t(i);
        const float weight = bodies.cold[k].mass * step.gravity;
        if (added_load_[k] > weight + 0.5f * carried_load_[k]) wake.push_back(i);
        added_load_[k] = carried_load_[k] = 0;
    }
}

void Sleep::find_sleepers(BodyStore& bodies, PairTable& table, const Step& step) {
    bool any = false;
    for (const std::int32_t i : *step.awake) any |= bodies.cold[std::size_t(i)].quiet_time >= kQuietTime;
    if (!any) return;
    candidate_.resize(bodies.hot.size(), kStill);
    for (const std::int32_t i : *step.awake) {
        if (!bodies.awake(i)) continue;
        const BodyHot& h = bodies.hot[std::size_t(i)];
        const float quiet = bodies.cold[std::size_t(i)].quiet_time;
        // Deep in a heap what does not move has speed all the same: it is pushed to and fro.
        const float limit = quiet >= kStillTime ? kSwaySpeed : kSettleSpeed;
        const bool slow = length(h.velocity) + length(h.spin) * h.radius < limit;
        candidate_[std::size_t(i)] = quiet >= kQuietTime && slow    ? kQuiet
                                     : quiet >= kSettleTime && slow ? kSettling
                                                                    : kRestless;
    }
    pairs_.clear();
    for (const ActivePair& p : *step.active)
        if (candidate_[std::size_t(p.a)] == kQuiet || candidate_[std::size_t(p.b)] == kQuiet)
            pairs_.push_back(p.pair);
    // Who stands on something restless is restless, until nothing changes.
    for (bool changed = true; changed;) {
        changed = false;
        for (const std::int32_t i : pairs_) {
            const Pair& p = table.pairs[std::size_t(i)];
            char &ca = candidate_[std::size_t(p.a)], &cb = candidate_[std::size_t(p.b)];
            if (ca != kQuiet && cb != kQuiet) continue;
            for (std::int32_t m = p.first; m >= 0; m = table.manifolds[std::size_t(m)].next) {
                const Manifold& q = table.manifolds[std::size_t(m)];
                float impulse = 0, deepest = 0;
                for (int k = 0; k < q.count; k++) {
                    impulse += q.points[k].impulse;
                    deepest = q.points[k].separation < deepest ? q.points[k].separation : deepest;
                }
                if (impulse <= 0) continue;
                const float weight = q.total_impulse / (step.dt * kLeastShare * step.gravity);
                const bool carries_a = weight >= bodies.cold[std::size_t(p.a)].mass,
                           carries_b = weight >= bodies.cold[std::size_t(p.b)].mass;
                const bool deep = deepest < -kDeepest;
                const float y = height_of(bodies.hot[std::size_t(p.a)], q, step.up);
                if (ca == kQuiet && (deep || (cb == kRestless && carries_a && y < kSupports))) {
                    ca = kRestless;
                    changed = true;
                }
                if (cb == kQuiet && (deep || (ca == kRestless && carries_b && y > -kSupports))) {
                    cb = kRestless;
                    changed = true;
                }
            }
        }
    }
    for (const std::int32_t i : *step.awake)
        if (candidate_[std::size_t(i)] == kQuiet) bodies.fall_asleep(i);
    for (const std::int32_t i : pairs_) {
        Pair& p = table.pairs[std::size_t(i)];
        if (candidate_[std::size_t(p.a)] != kQuiet && candidate_[std::size_t(p.b)] != kQuiet) continue;
        p.load = 0;
        for (std::int32_t m = p.first; m >= 0; m = table.manifolds[std::size_t(m)].next)
            p.load += table.manifolds[std::size_t(m)].total_impulse;
        p.load /= step.dt;
        for (const std::int32_t body : {p.a, p.b})
            if (bodies.awake(body))
                bodies.cold[std::size_t(body)].sleep_position = bodies.hot[std::size_t(body)].position;
    }
    for (const std::int32_t i : *step.awake) candidate_[std::size_t(i)] = kStill;
}

}  // namespace talus
