#include "dynamics/state.h"

#include "dynamics/archive.h"
#include "dynamics/crew.h"
#include "dynamics/jobs_in_chunks.h"

#include <algorithm>
#include <utility>

namespace talus {

namespace {

constexpr float kLongestStep = 1.0f / 60;      // collide at least this often
constexpr float kLongestSubStep = 1.0f / 240;  // solve at least this often
constexpr float kLeastCell = 1e-3f, kMostCell = 1e3f;
constexpr int kMostSubSteps = 10'000;
constexpr float kMostSpeed = 1000;           // m/s
constexpr float kMostSpin = 48;              // rad/s
constexpr float kMostSpinOfBall = 400;       // turning a ball moves no surface: no contact is missed
constexpr float kMostGain = 2 * kMostSpeed;  // m/s a step, from forces: more is cut
constexpr float kKinematicFrame = 1e-8f;     // spin rows of what contacts cannot turn
constexpr float kCalmSpeed = 0.5f;           // m/s: bodies at rest on faces that sway slower are calmed
constexpr std::size_t kMoveChunk = 128;      // bodies moved by one thread at once
constexpr std::size_t kReadChunk = 256;      // touching pairs read by one thread at once
constexpr std::size_t kManyMovers = 128;     // from then on helpers stay for the whole step
constexpr std::size_t kManyHits = 64, kHitShare = 16;  // pairs; one in so many: see advance()
constexpr int kMostHelpers = 8;
constexpr std::uint32_t kScratchSteps = 32;  // so often it is asked whether scratch goes
constexpr std::uint32_t kRestSteps = 64;     // and which sleepers do without a shape
constexpr float kCalm = 6;                   // 1/s: how fast their swaying dies out

bool finite(Quat q) { return std::isfinite(q.x + q.y + q.z + q.w); }

/// Rotation by a small or moderate vector (its length the angle), by series.
Quat turn_by(Vec3 v) {
    const float quarter = dot(v, v) * 0.25f;
    const float s = 0.5f * (1 - quarter * (1.0f / 6) * (1 - quarter * (1.0f / 20)));
    const float c = 1 - quarter * 0.5f * (1 - quarter * (1.0f / 12) * (1 - quarter * (1.0f / 30)));
    return {v.x * s, v.y * s, v.z * s, c};
}

float most_spin_of(const BodyHot& h) {
    return h.round && h.shape->round_half == 0 ? kMostSpinOfBall : kMostSpin;
}

/// Cuts a vector to a length; also one whose square is infinite. @return whether it was longer
bool limit(Vec3& v, float most) {
    const float big = std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z);
    if (big <= most) return false;
    if (!std::isfinite(big)) {
        v = {};
        return true;
    }
    const Vec3 u = v / big;
    const bool longer = big * length(u) > most * 1.00001f;  // what was cut is not cut again
    if (longer) v = u * (most / length(u));
    return longer;
}

float ground_friction(float friction) {
    return std::isfinite(friction) ? sane_friction(friction) : BodySettings{}.friction;
}

/// The angle between two attitudes, or a little more.
float turned(Quat from, Quat to) {
    const Quat d = to * Quat{-from.x, -from.y, -from.z, from.w};
    const float sine = std::sqrt(d.x * d.x + d.y * d.y + d.z * d.z);  // of half of it
    return sine < 0.5f ? 2.1f * sine : 3.15f * sine;
}

}  // namespace

Space::State::State(const SpaceSettings& s) : settings(s) {
    for (int i = 0; i < 16; i++) layers[i] = 0xffff;
    float& size = settings.cell_size;
    size = size > kLeastCell ? size < kMostCell ? size : kMostCell : kLeastCell;
    if (settings.sub_steps > kMostSubSteps) settings.sub_steps = kMostSubSteps;
    world.cell_size = size;
    auto part = [&](Layer a, Layer b) {
        layers[int(a)] = std::uint16_t(layers[int(a)] & ~(1u << int(b)));
        layers[int(b)] = std::uint16_t(layers[int(b)] & ~(1u << int(a)));
    };
    part(Layer::falling_through_soft, Layer::soft_terrain);
}

Space::Space(const SpaceSettings& settings) : state_(std::make_unique<State>(settings)) {}
Space::~Space() = default;

const SpaceSettings& Space::settings() const { return state_->settings; }
void Space::set_paused(bool paused) {
    const Recorded call(state_->calls, Call::space_set_paused, paused);
    state_->paused = paused;
}

void Space::set_allow_sleep(bool allow) {
    const Recorded call(state_->calls, Call::space_allow_sleep, allow);
    State& s = *state_;
    s.settings.allow_sleep = allow;
    for (std::int32_t i = 1; !allow && i < s.bodies.size(); i++)
        if (s.bodies.hot[std::size_t(i)].exists) s.wake(i);
}

void Space::step(float dt) {
    const Recorded call(state_->calls, Call::space_step, dt);
    State& s = *state_;
    clear_scratch(s.contacts);
    clear_scratch(s.next_contact);
    s.quarantined.clear();
    s.drop_scratch();
    if (s.step_number % kRestSteps == 0) s.rest_shapes();
    s.forget_removed();
    if (s.paused || !(dt > 0) || !(dt < 10)) {
        s.end_forces();
        return;
    }
    if (++s.step_number == 0) s.number_steps_anew();
    const int subs =
        s.settings.sub_steps > 0 ? s.settings.sub_steps : int(std::ceil(dt / kLongestSubStep - 1e-3f));
    int steps = int(std::ceil(dt / kLongestStep - 1e-3f));
    steps = steps < 1 ? 1 : steps;
    const int subs_each = (subs + steps - 1) / steps;
    for (int i = 0; i < steps; i++) s.internal_step(this, dt / float(steps), subs_each < 1 ? 1 : subs_each);
    s.end_forces();
    s.report_slowed();
}

/// What steps need goes each time that half as much takes part in them as before.
void Space::State::drop_scratch() {
    const std::size_t now = movers.size() + narrow.active.size();
    if (now > busiest) busiest = now;
    if (step_number % kScratchSteps != 0 || 2 * now > busiest) return;
    busiest = now;
    narrow.drop_scratch();
    solver.drop_scratch();
    broad.drop_scratch();
    sweep.drop_scratch();
    sleep.drop_scratch();
    for (auto* v : {&movers, &awake, &others, &first_of_reading, &fast, &to_wake}) drop(*v);
    for (auto* v : {&touched, &moved, &cut_in}) drop(*v);
    drop(velocity_before);
    drop(departures);
    drop(readings);
}

/// After 2^32 steps, two years of them: what touched in the last step still does, all else is as if it never
/// had.
void Space::State::number_steps_anew() {
    step_number = 2;
    for (Pair& p : pairs.pairs) p.last_touch = p.last_touch == 0xffffffffu ? 1 : 0;
}

/// Once for steps in a row.
void Space::State::report_slowed() {
    if (slowed && !slowed_before && settings.log)
        settings.log->log(LogLevel::warning, "a body faster than physics can follow was slowed");
    slowed_before = std::exchange(slowed, false);
}

void Space::State::internal_step(Space* space, float dt, int sub_steps) {
    const bool alone =
        !settings.jobs || settings.jobs->worker_count() < 2 || (world.smooth && world.smooth->one_thread());
    JobSystem* const jobs = alone ? nullptr : settings.jobs;
    quarantine_bad_input();
    auto find_pairs = [&](JobSystem* with) {
        broad.update(bodies, pairs, layers, dt, with);
        ask_filter(space);
    };
    const bool many = jobs && movers.size() >= kManyMovers;
    if (!many || filter) find_pairs(jobs);  // a filter is a host's code: on the thread that called
    if (!many) return advance(dt, sub_steps, jobs);
    Crew crew(jobs->worker_count() < kMostHelpers ? jobs->worker_count() : kMostHelpers);
    crew.run(*jobs, [&] {
        if (!filter) find_pairs(&crew);
        advance(dt, sub_steps, &crew);
    });
}

void Space::State::advance(float dt, int sub_steps, JobSystem* jobs) {
    last_dt = dt;
    narrow.run(bodies, pairs, broad, world, layers, dt, jobs);
    // Where a heap comes down pieces are pressed into each other; with twice the sub steps a third as many.
    if (settings.sub_steps == 0 && narrow.hits >= kManyHits && narrow.hits * kHitShare > narrow.active.size())
        sub_steps *= 2;

    SolverSettings solve;
    solve.sub_steps = sub_steps;
    solve.h = dt / float(sub_steps);
    const float gravity = length(settings.gravity);
    solve.stacks = gravity > 0;
    up = gravity > 0 ? -settings.gravity / gravity : Vec3{};
    solve.up = up;
    solve.jobs = jobs;

    wake_hit(dt);
    load_solver(solve.h, jobs);
    solver.solve(pairs, solve);
    read_contacts(jobs);
    move_bodies(dt, jobs);
    sweep.run(bodies, pairs, world, layers, departures, fast, jobs);
    broad.note_moved(bodies.moving);
    to_wake = narrow.lost_support;
    narrow.lost_support.clear();
    if (settings.allow_sleep)
        sleep.update(
            bodies, pairs,
            {dt, solve.up, gravity, &awake, &narrow.active, &narrow.beside_sleepers, &velocity_before, jobs},
            to_wake);
    for (const std::int32_t i : to_wake) wake(i);
}

void Space::State::quarantine_bad_input() {
    BitSet::each_of(bodies.moving, bodies.bad, [&](std::int32_t i) {
        BodyHot& h = bodies.hot[std::size_t(i)];
        const BodyCold& c = bodies.cold[std::size_t(i)];
        if (bodies.bad[i]) quarantine(i);
        if (!bodies.awake(i)) return;
        const bool bad_force = bodies.forced[i] && !(is_finite(c.force) && is_finite(c.torque));
        if (!is_finite(h.velocity) || !is_finite(h.spin) || bad_force) {
            quarantine(i);
            return;
        }
        slowed = limit(h.velocity, kMostSpeed) || slowed;
        slowed = limit(h.spin, most_spin_of(h)) || slowed;
    });
}

/// Frozen where it last was right, for the user to look at: it no longer moves, but is still solid.
void Space::State::quarantine(std::int32_t i) {
    bodies.bring_shape(i);
    BodyHot& h = bodies.hot[std::size_t(i)];
    BodyCold& c = bodies.cold[std::size_t(i)];
    bodies.bad.reset(i);
    c.motion = MotionType::fixed;
    c.force = c.torque = {};
    h.velocity = h.spin = {};
    h.dynamic = false;
    h.asleep = false;
    h.inverse_mass = 0;
    bodies.note_motion(i);
    quarantined.push_back(bodies.id(i));
    wake_neighbours(i);
    if (settings.log)
        settings.log->log(LogLevel::warning, "a body with a state that is not finite was frozen");
}

/// Sleepers that are hit wake before the solver runs: a hit on something fixed would lose its momentum.
void Space::State::wake_hit(float dt) {
    to_wake.clear();
    sleep.find_hit(bodies, pairs, narrow.beside_sleepers, dt, to_wake);
    for (const std::int32_t i : to_wake) {
        if (!bodies.hot[std::size_t(i)].asleep) continue;
        wake(i);
        narrow.join(i);
    }
}

/// A body's frame and velocity for the solver; what does not move gets no spin rows.
void Space::State::load_frame(std::int32_t i, std::size_t place) {
    const BodyHot& h = bodies.hot[std::size_t(i)];
    SolverFrame& f = solver.frame[place];
    SolverVelocity& v = solver.velocity[place];
    f.rotation = h.rotation;
    f.to_spin = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    f.inverse_mass = 0;
    v = {};
    solver.motion[place] = {};
    if (bodies.awake(i)) {
        const BodyCold& c = bodies.cold[std::size_t(i)];
        f.to_spin = spin_frame(h, c);
        f.inverse_mass = h.inverse_mass;
        const Vec3 s = f.to_spin * h.spin;
        v.linear = h.velocity;
        v.inverse_mass = h.inverse_mass;
        for (int k = 0; k < 3; k++) v.spin[k] = s[k] * c.root_moments[k] * c.root_moments[k];
    } else if (bodies.kinematic_moving(i)) {
        for (int k = 0; k < 3; k++) f.to_spin.m[k][k] = kKinematicFrame;
        v.linear = h.velocity;
        v.spin = h.spin * (1 / kKinematicFrame);
    }
}

void Space::State::load_solver(float h, JobSystem* jobs) {
    const std::size_t n = bodies.hot.size();
    solver.place.resize(n);
    velocity_before.resize(n);
    for (const auto* before : {&movers, &others})
        for (const std::int32_t i : *before) touched[std::size_t(i)] = kUntouched;
    touched.resize(n, kUntouched);
    touched[0] = kUntouched;
    movers.clear();
    awake.clear();
    bodies.moving.each([&](std::int32_t i) {
        movers.push_back(i);
        if (bodies.awake(i)) awake.push_back(i);
    });
    // The world, what moves, and what that touches.
    std::size_t places = 1;
    solver.place[0] = 0;
    for (const std::int32_t i : movers) solver.place[std::size_t(i)] = std::int32_t(places++);
    others.clear();
    for (const ActivePair& pair : narrow.active) {
        for (const std::int32_t i : {pair.a, pair.b}) {
            char& touch = touched[std::size_t(i)];
            if (touch == kTouched) continue;
            touch = kTouched;
            if (i == 0 || bodies.moving[i]) continue;
            solver.place[std::size_t(i)] = std::int32_t(places++);
            others.push_back(i);
        }
    }
    solver.parts.divide(bodies, narrow.active, solver.place, movers);
    for (std::size_t k = 0; k < movers.size(); k++)
        solver.place[std::size_t(movers[k])] = std::int32_t(k + 1);
    resize_scratch(solver.velocity, places);
    resize_scratch(solver.motion, places);
    resize_scratch(solver.frame, places);
    resize_scratch(solver.drives, movers.size());
    cut_in.assign((movers.size() + kMoveChunk - 1) / kMoveChunk, 0);
    auto load_movers = [&](std::size_t chunk) {
        for (std::size_t k = chunk * kMoveChunk; k < (chunk + 1) * kMoveChunk && k < movers.size(); k++) {
            const std::int32_t i = movers[k];
            const BodyHot& hot = bodies.hot[std::size_t(i)];
            load_frame(i, k + 1);
            velocity_before[std::size_t(i)] = hot.velocity;
            SolverDrive d{i, {}, {}, 1, 1};
            if (hot.dynamic) {
                const BodyCold& c = bodies.cold[std::size_t(i)];
                d.acceleration = settings.gravity * c.gravity_factor + c.force * hot.inverse_mass;
                bool cut = limit(d.acceleration, kMostGain / last_dt);
                d.spin_rate = solver.frame[k + 1].to_spin * c.torque;
                // In the scaled frame a speed is the root of twice the energy per mass of the spin.
                const float root = c.root_moments.x + c.root_moments.y + c.root_moments.z;
                cut = limit(d.spin_rate, kMostGain * root / last_dt) || cut;
                if (cut) cut_in[chunk] = 1;
                if (c.linear_damping > 0) d.linear_keep = 1 / (1 + c.linear_damping * h);
                if (c.angular_damping > 0) d.angular_keep = 1 / (1 + c.angular_damping * h);
            }
            solver.drives[k] = d;
        }
    };
    auto load_others = [&] {
        load_frame(0, 0);
        for (std::size_t k = 0; k < others.size(); k++) load_frame(others[k], 1 + movers.size() + k);
    };
    // What cannot be cut comes first.
    in_chunks(jobs, 2 + cut_in.size(), [&](std::size_t k) {
        if (k == 0)
            solver.colour(pairs, narrow.active);
        else if (k == 1)
            load_others();
        else
            load_movers(k - 2);
    });
    for (const char cut : cut_in) slowed = slowed || cut;
}

/// Turns a body by what its mean angular momentum over the step makes of its changing inertia: with no
/// torque, momentum is kept exactly and energy to fourth order.
void Space::State::turn_body(std::int32_t i, float dt) {
    BodyHot& h = bodies.hot[std::size_t(i)];
    BodyCold& c = bodies.cold[std::size_t(i)];
    const auto place = std::size_t(solver.place[std::size_t(i)]);
    const SolverFrame& f = solver.frame[place];
    const Vec3 moved = solver.motion[place].spin;         // scaled frame
    const Vec3 plain = mul_transposed(f.to_spin, moved);  // rotation vector of a spin that does not change
    const float angle = length(plain);
    if (!(angle >= 1e-9f)) return;
    if (c.isotropic || angle < 1e-4f) {
        const int parts = angle < 60 ? 1 + int(angle) : 60;
        for (int k = 0; k < parts; k++)
            c.rotation = normalized(turn_by(plain * (1 / float(parts))) * c.rotation);
        return;
    }
    Vec3 scaled;  // root moments times the scaled spin: the momentum in principal axes
    for (int k = 0; k < 3; k++) scaled[k] = moved[k] * c.root_moments[k] / dt;
    const Mat3 axes = h.rotation * c.principal;
    const Vec3 momentum = axes * scaled;
    auto spin_at = [&](Quat q) {
        const Mat3 a = to_matrix(q) * c.principal;
        Vec3 l = mul_transposed(a, momentum);
        for (int k = 0; k < 3; k++) l[k] *= c.root_inverse[k] * c.root_inverse[k];
        return a * l;
    };
    const int parts = angle < 3 ? 1 + int(angle / 0.05f) : 60;
    const float h_part = dt / float(parts);
    for (int part = 0; part < parts; part++) {
        const Quat q = c.rotation;
        if (angle < 0.005f || touched[std::size_t(i)]) {  // midpoint: contacts bring larger errors
            const Vec3 w = spin_at(normalized(turn_by(spin_at(q) * (0.5f * h_part)) * q));
            c.rotation = normalized(turn_by(w * h_part) * q);
            continue;
        }
        // Runge-Kutta on q' = (w, 0) q / 2.
        auto rate = [&](Quat at) {
            const Vec3 w = spin_at(normalized(at));
            return Quat{w.x * 0.5f, w.y * 0.5f, w.z * 0.5f, 0} * at;
        };
        auto plus = [](Quat a, Quat b, float s) {
            return Quat{a.x + b.x * s, a.y + b.y * s, a.z + b.z * s, a.w + b.w * s};
        };
        const Quat k1 = rate(q), k2 = rate(plus(q, k1, 0.5f * h_part)), k3 = rate(plus(q, k2, 0.5f * h_part)),
                   k4 = rate(plus(q, k3, h_part));
        Quat r = q;
        r = plus(r, k1, h_part / 6);
        r = plus(r, k2, h_part / 3);
        r = plus(r, k3, h_part / 3);
        r = plus(r, k4, h_part / 6);
        c.rotation = normalized(r);
    }
}

/// Slow swaying of what rests on level faces dies out: in tall stacks the solver's last errors would feed it.
void Space::State::calm(BodyHot& h, float dt) const {
    const float speed2 = dot(h.spin, h.spin) * h.radius * h.radius + dot(h.velocity, h.velocity);
    if (speed2 >= kCalmSpeed * kCalmSpeed) return;
    const float keep = 1 - kCalm * dt * (1 - speed2 / (kCalmSpeed * kCalmSpeed));
    h.velocity *= keep;
    h.spin *= keep;
}

/// After the solver: one pass over what touches. What chunks of pairs read is put together in order.
void Space::State::read_contacts(JobSystem* jobs) {
    const std::size_t n = narrow.active.size(), chunks = (n + kReadChunk - 1) / kReadChunk;
    if (readings.size() < chunks || readings.size() > 4 * chunks + 4) readings.resize(chunks);
    in_chunks(jobs, chunks, [&](std::size_t chunk) {
        Reading& out = readings[chunk];
        out.contacts.clear();
        out.runs.clear();
        out.touched.clear();
        for (std::size_t k = chunk * kReadChunk; k < (chunk + 1) * kReadChunk && k < n; k++) {
            if (k + 6 < n) {
                const ActivePair& ahead = narrow.active[k + 6];
                const auto* m = reinterpret_cast<const char*>(&pairs.manifolds[std::size_t(ahead.first)]);
                for (int line = 0; line < 4; line++) __builtin_prefetch(m + 64 * line);
                __builtin_prefetch(&pairs.pairs[std::size_t(ahead.pair)].last_touch);
            }
            read_pair(out, narrow.active[k]);
        }
    });
    first_of_reading.resize(chunks);
    std::size_t count = contacts.size();
    for (std::size_t chunk = 0; chunk < chunks; chunk++) {
        first_of_reading[chunk] = std::int32_t(count);
        count += readings[chunk].contacts.size();
        for (const Reading::Touched& t : readings[chunk].touched)
            for (const std::int32_t i : {t.a, t.b}) {
                char& touch = touched[std::size_t(i)];
                touch = t.touch > touch ? t.touch : touch;
            }
    }
    contacts.resize(count);
    next_contact.resize(count);
    in_chunks(jobs, chunks, [&](std::size_t chunk) { place(readings[chunk], first_of_reading[chunk]); });
}

/// One entry for each direction of a pair; those of earlier internal steps grow.
void Space::State::read_pair(Reading& out, const ActivePair& active) {
    const Pair& p = pairs.pairs[std::size_t(active.pair)];
    const std::size_t first = out.contacts.size();
    std::int32_t last = -1;  // of its entries there are
    if (p.last_touch == step_number)
        for (last = p.first_contact; next_contact[std::size_t(last)] >= 0;)
            last = next_contact[std::size_t(last)];
    for (std::int32_t m = active.first; m >= 0; m = pairs.manifolds[std::size_t(m)].next) {
        const Manifold& q = pairs.manifolds[std::size_t(m)];
        if (!(q.total_impulse > 0)) continue;
        const Vec3 normal = bodies.hot[std::size_t(p.a)].rotation * q.normal;
        const char touch = touch_of(p, q, normal);
        if (touch != kUntouched) out.touched.push_back({p.a, p.b, touch});
        const Contact contact = contact_of(p, q, normal);
        Contact* same = nullptr;
        for (std::int32_t k = last < 0 ? -1 : p.first_contact; k >= 0 && !same;
             k = next_contact[std::size_t(k)])
            if (dot(contacts[std::size_t(k)].normal, normal) > 0.9f) same = &contacts[std::size_t(k)];
        for (std::size_t k = first; k < out.contacts.size() && !same; k++)
            if (dot(out.contacts[k].normal, normal) > 0.9f) same = &out.contacts[k];
        if (!same) {
            out.contacts.push_back(contact);
            out.contacts.back().began =
                last >= 0 ? contacts[std::size_t(last)].began : p.last_touch + 1 != step_number;
            continue;
        }
        same->impulse += contact.impulse;
        if (contact.approach_speed > same->approach_speed) {
            same->approach_speed = contact.approach_speed;
            same->point = contact.point;
            same->normal = contact.normal;
        }
    }
    if (const std::size_t count = out.contacts.size() - first)
        out.runs.push_back({active.pair, std::int32_t(count), last});
}

/// Into Space::contacts(), from its entry `first` on.
void Space::State::place(const Reading& reading, std::int32_t first) {
    std::copy(reading.contacts.begin(), reading.contacts.end(), contacts.begin() + first);
    for (const Reading::Run& run : reading.runs) {
        if (run.after >= 0) {
            next_contact[std::size_t(run.after)] = first;
        } else {
            Pair& p = pairs.pairs[std::size_t(run.pair)];
            p.first_contact = first;
            p.last_touch = step_number;
        }
        for (std::int32_t k = 1; k < run.count; k++, first++) next_contact[std::size_t(first)] = first + 1;
        next_contact[std::size_t(first++)] = -1;
    }
}

Contact Space::State::contact_of(const Pair& p, const Manifold& q, Vec3 normal) const {
    const BodyHot& a = bodies.hot[std::size_t(p.a)];
    int most = 0;
    for (int k = 1; k < q.count; k++)
        if (q.points[k].impulse > q.points[most].impulse) most = k;
    // Where it is after the step.
    const Vec3 arm =
        solver.motion[std::size_t(solver.place[std::size_t(p.a)])].linear + a.rotation * q.points[most].on_a;
    Contact r;
    r.a = bodies.id(p.a);
    r.b = bodies.id(p.b);
    r.point = a.position + to_double(arm);
    r.normal = normal;
    r.impulse = q.total_impulse;
    r.approach_speed = q.approach_speed;
    r.with_terrain = p.b == 0;
    return r;
}

/// Finds bodies that rest on level faces: three points that push, and friction that holds. What slides, rocks
/// on an edge, topples or is carried is left alone.
char Space::State::touch_of(const Pair& pair, const Manifold& q, Vec3 normal) const {
    int loaded = 0;
    float push = 0;
    for (int k = 0; k < q.count; k++) {
        loaded += q.points[k].impulse > 0;
        push += q.points[k].impulse;
    }
    if (push <= 0) return kUntouched;
    const float limit = 0.98f * q.friction * push;
    const float* f = q.friction_impulse;
    const bool holds = f[0] * f[0] + f[1] * f[1] < limit * limit;
    if (!holds || bodies.kinematic_moving(pair.a) || bodies.kinematic_moving(pair.b)) return kSliding;
    return loaded >= 3 && std::fabs(dot(normal, up)) > 0.8f ? kOnFaces : kUntouched;
}

void Space::State::move_bodies(float dt, JobSystem* jobs) {
    const std::size_t n = solver.drives.size();
    resize_scratch(departures, n);
    resize_scratch(moved, n);
    cut_in.assign((n + kMoveChunk - 1) / kMoveChunk, 0);
    in_chunks(jobs, cut_in.size(), [&](std::size_t chunk) {
        for (std::size_t k = chunk * kMoveChunk; k < (chunk + 1) * kMoveChunk && k < n; k++)
            moved[k] = move_body(solver.drives[k], dt, departures[k], cut_in[chunk]);
    });
    for (const char cut : cut_in) slowed = slowed || cut;
    fast.clear();
    for (std::size_t k = 0; k < n; k++) {
        if (moved[k] == kMovedFast) fast.push_back(std::int32_t(k));
        if (moved[k] == kMovedBadly) quarantine(departures[k].body);
        // Forces may have brought it beyond.
        BodyHot& h = bodies.hot[std::size_t(departures[k].body)];
        if (h.dynamic) slowed = limit(h.velocity, kMostSpeed) || slowed;
    }
}

Space::State::Moved Space::State::move_body(const SolverDrive& d, float dt, Departure& departure, char& cut) {
    const std::int32_t i = d.body;
    BodyHot& h = bodies.hot[std::size_t(i)];
    BodyCold& c = bodies.cold[std::size_t(i)];
    const auto place = std::size_t(solver.place[std::size_t(i)]);
    const SolverVelocity& v = solver.velocity[place];
    Vec3 travel = solver.motion[place].linear;
    departure = {i, h.position, c.rotation};
    if (!h.dynamic) {  // kinematic
        h.position += to_double(h.velocity * dt);
        const Vec3 turn = h.spin * dt;
        const float angle = length(turn);
        const int parts = angle < 60 ? 1 + int(angle) : 60;
        for (int k = 0; k < parts; k++)
            c.rotation = normalized(turn_by(turn * (1 / float(parts))) * c.rotation);
        bodies.refresh_pose(i);
        bodies.way[std::size_t(i)] += BodyStore::to_way(length(h.velocity) * dt + angle * h.radius);
        return kMoved;
    }
    const bool free = !touched[std::size_t(i)];
    // Nothing touches: the exact parabola.
    if (free && d.linear_keep == 1) travel = (h.velocity + d.acceleration * (0.5f * dt)) * dt;
    h.velocity = v.linear;
    turn_body(i, dt);
    h.position += to_double(travel);
    if (!is_finite(h.position) || !finite(c.rotation) || !is_finite(v.linear) || !is_finite(v.spin) ||
        !is_finite(solver.motion[place].spin) || std::fabs(h.position.x) > BodyStore::kFarthest ||
        std::fabs(h.position.y) > BodyStore::kFarthest || std::fabs(h.position.z) > BodyStore::kFarthest) {
        h.position = departure.position;
        c.rotation = departure.rotation;
        return kMovedBadly;
    }
    bodies.refresh_pose(i);
    bodies.way[std::size_t(i)] +=
        BodyStore::to_way(length(travel) + turned(departure.rotation, c.rotation) * h.radius);
    // Spin from momentum, in the new attitude.
    const SolverFrame& f = solver.frame[place];
    Vec3 weighted;
    for (int k = 0; k < 3; k++) weighted[k] = v.spin[k] * c.root_moments[k] * c.root_moments[k];
    const Mat3 now = spin_frame(h, c);
    h.spin = mul_transposed(now, now * mul_transposed(f.to_spin, weighted));
    const float spin = length(h.spin);
    if (limit(h.spin, most_spin_of(h))) cut = 1;
    if (c.rolling_resistance > 0 && touched[std::size_t(i)]) h.spin *= 1 / (1 + c.rolling_resistance * dt);
    if (touched[std::size_t(i)] == kOnFaces) calm(h, dt);
    const float far = length(travel) + spin * dt * h.radius;
    return Sweep::needed(h, far) ? kMovedFast : kMoved;
}

void Space::State::forget_removed() {
    if (freed.empty()) return;
    for (const std::int32_t i : freed) bodies.release(i);
    freed.clear();
}

void Space::State::end_forces() {
    bodies.forced.each([&](std::int32_t i) {
        BodyCold& c = bodies.cold[std::size_t(i)];
        c.force = c.torque = {};
    });
    bodies.forced.clear();
}

void Space::State::wake(std::int32_t body) {
    const bool slept = bodies.hot[std::size_t(body)].asleep;
    if (slept) {
        // How far the terrain is may have changed while it slept; contacts are sure for some way.
        const std::int32_t i = pairs.find(body, 0);
        if (i >= 0 && !pairs.pairs[std::size_t(i)].touching) pairs.expire(i);
    }
    bodies.wake(body);
    if (!slept) return;
    bodies.bring_shape(body);
    each_pair(body, [&](std::int32_t, Pair&, std::int32_t other) { bodies.bring_shape(other); });
}

void Space::State::rest_shapes() {
    bodies.with_shape.each([&](std::int32_t i) {
        const BodyHot& h = bodies.hot[std::size_t(i)];
        const bool may = bodies.shapes.can && h.exists && h.asleep && h.shape && h.shape->cell_size > 0 &&
                         !h.shape->bricks && h.shape->has_solids();
        if (!may) return bodies.with_shape.reset(i);
        if (!std::exchange(bodies.cold[std::size_t(i)].long_asleep, true)) return;
        bool alone = true;
        each_pair(i, [&](std::int32_t, Pair&, std::int32_t other) {
            alone = alone && (other == 0 || bodies.hot[std::size_t(other)].asleep ||
                              bodies.cold[std::size_t(other)].motion == MotionType::fixed);
        });
        if (!alone || !bodies.shapes.can(bodies.shapes.context, bodies.id(i))) return;
        bodies.rest_shape(i);
        bodies.with_shape.reset(i);
    });
}

void Space::State::wake_neighbours(std::int32_t body) {
    constexpr float kNear = 0.1f;
    const BodyHot& h = bodies.hot[std::size_t(body)];
    each_pair(body, [&](std::int32_t, Pair& p, std::int32_t other) {
        if (other == 0) return;
        const BodyHot& o = bodies.hot[std::size_t(other)];
        if (!o.asleep) return;
        const Vec3 d = to_float(o.position - h.position);
        bool near = true;
        for (int k = 0; k < 3; k++)
            near = near && d[k] + o.lo[k] <= h.hi[k] + kNear && d[k] + o.hi[k] >= h.lo[k] - kNear;
        if (p.touching || near) wake(other);
    });
}

void Space::State::wake_near(std::int32_t body, Vec3 center, Vec3 half) {
    constexpr float kNear = 0.1f;
    const BodyHot& h = bodies.hot[std::size_t(body)];
    const Mat3& r = h.rotation;
    const Vec3 middle = r * center;
    each_pair(body, [&](std::int32_t, Pair&, std::int32_t other) {
        if (other == 0 || !bodies.hot[std::size_t(other)].asleep) return;
        const BodyHot& o = bodies.hot[std::size_t(other)];
        const Vec3 d = to_float(o.position - h.position) - middle;
        bool near = true;
        for (int k = 0; k < 3; k++) {
            const float reach = kNear + std::fabs(r.m[k][0]) * half.x + std::fabs(r.m[k][1]) * half.y +
                                std::fabs(r.m[k][2]) * half.z;
            near = near && d[k] + o.lo[k] <= reach && d[k] + o.hi[k] >= -reach;
        }
        if (near) wake(other);
    });
}

void Space::State::drop_pairs(std::int32_t body) {
    each_pair(body, [&](std::int32_t index, Pair& p, std::int32_t) {
        pairs.remove(index, bodies.hot[std::size_t(p.a)].first_pair, bodies.hot[std::size_t(p.b)].first_pair);
    });
}

void Space::State::add_world_pair(std::int32_t body) {
    pairs.add(body, 0, bodies.hot[std::size_t(body)].first_pair, bodies.hot[0].first_pair);
}

void Space::State::refresh_contacts(std::int32_t body) {
    broad.touch(body);
    each_pair(body, [&](std::int32_t index, Pair&, std::int32_t) { pairs.expire(index); });
}

void Space::set_layers_collide(Layer a, Layer b, bool collide) {
    const Recorded call(state_->calls, Call::space_layers, a, b, collide);
    State& s = *state_;
    const unsigned i = unsigned(a) & BodyStore::kMostLayer, j = unsigned(b) & BodyStore::kMostLayer;
    auto set = [&](unsigned x, unsigned y) {
        s.layers[x] = std::uint16_t(collide ? s.layers[x] | 1u << y : s.layers[x] & ~(1u << y));
    };
    set(i, j);
    set(j, i);
    for (std::int32_t k = 1; k < s.bodies.size(); k++) {
        const BodyHot& h = s.bodies.hot[std::size_t(k)];
        if (!h.exists || (h.layer != i && h.layer != j)) continue;
        s.wake(k);
        s.wake_neighbours(k);
        s.make_pairs_anew(k);
    }
}

void Space::set_contact_filter(ContactFilter* filter) {
    State& s = *state_;
    if (s.filter == filter) return;
    s.filter = filter;
    for (std::int32_t i = 1; i < s.bodies.size(); i++)
        if (s.bodies.hot[std::size_t(i)].exists) ask_again(Body(this, s.bodies.id(i)));
}

void Space::ask_again(Body body) {
    const Recorded call(state_->calls, Call::space_ask_again, body.id());
    State& s = *state_;
    if (body.space() != this || !s.bodies.is(body.id())) return;
    const auto i = std::int32_t(body.id().index);
    s.wake(i);
    s.wake_neighbours(i);
    s.make_pairs_anew(i);
}

void Space::State::make_pairs_anew(std::int32_t body) {
    drop_pairs(body);
    if (bodies.hot[std::size_t(body)].dynamic) add_world_pair(body);
    broad.touch(body);
}

void Space::State::ask_filter(Space* space) {
    for (const BroadPhase::NewPair& p : broad.new_pairs)
        for (const std::int32_t i : {p.a, p.b}) bodies.bring_shape(i);
    if (filter)
        for (const BroadPhase::NewPair& p : broad.new_pairs) {
            const std::int32_t i = pairs.find(p.a, p.b);
            pairs.pairs[std::size_t(i)].vetoed =
                !filter->may_touch(Body(space, bodies.id(p.a)), Body(space, bodies.id(p.b)));
        }
    broad.new_pairs.clear();
}

void Space::State::look_anew() {
    for (std::int32_t i = 1; i < bodies.size(); i++)
        if (bodies.hot[std::size_t(i)].exists) {
            wake(i);
            refresh_contacts(i);
        }
}

void Space::set_terrain(const Grid* grid, bool whole) {
    State& s = *state_;
    s.world.grid = grid;
    s.world.whole = whole;
    s.look_anew();
}

void Space::set_ground(std::optional<double> y, float friction) {
    const Recorded call(state_->calls, Call::space_ground, y, friction);
    State& s = *state_;
    s.world.has_ground = y.has_value() && std::isfinite(*y);
    s.world.ground = s.world.has_ground ? *y : 0;
    s.world.ground_friction = ground_friction(friction);
    s.look_anew();
}

void Space::set_smooth_ground(const SmoothGround* ground, float friction) {
    State& s = *state_;
    s.world.smooth = ground;
    s.world.smooth_friction = ground_friction(friction);
    s.look_anew();
}

void Space::terrain_changed(const CellBox& cells) {
    const Recorded call(state_->calls, Call::space_changed, cells);
    State& s = *state_;
    if (cells.empty()) return;
    const double size = double(s.settings.cell_size), reach = 1.5 * size;
    const DVec3 lo{cells.min.x * size - reach, cells.min.y * size - reach, cells.min.z * size - reach};
    const DVec3 hi{(cells.max.x + 1.0) * size + reach, (cells.max.y + 1.0) * size + reach,
                   (cells.max.z + 1.0) * size + reach};
    for (const std::int32_t i : s.broad.near_box(s.bodies, {lo, hi})) {
        const BodyHot& h = s.bodies.hot[std::size_t(i)];
        if (h.asleep && overlaps({h.position + to_double(h.lo), h.position + to_double(h.hi)}, {lo, hi}))
            s.wake(i);
    }
    // Distances to terrain found earlier are no longer true anywhere near. Sleepers look anew as they wake.
    s.bodies.moving.each([&](std::int32_t i) {
        if (const std::int32_t pair = s.pairs.find(i, 0); pair >= 0) s.pairs.expire(pair);
    });
}

Body Space::add_body(const BodyShape& shape, const BodySettings& settings) {
    const Recorded call(state_->calls, Call::space_add_body, shape, settings);
    State& s = *state_;
    const std::int32_t i = s.bodies.add(shape, settings);
    s.broad.add(i);
    if (s.bodies.hot[std::size_t(i)].dynamic) s.add_world_pair(i);
    return Body(this, s.bodies.id(i));
}

void Space::remove_body(Body body) {
    const Recorded call(state_->calls, Call::space_remove_body, body.id());
    State& s = *state_;
    if (body.space() != this || !s.bodies.is(body.id())) return;
    const auto i = std::int32_t(body.id().index);
    s.wake_neighbours(i);
    s.drop_pairs(i);
    s.broad.remove(i);
    s.bodies.remove(i);
    s.freed.push_back(i);
}

Body Space::body(BodyId id) { return Body(this, id); }
std::size_t Space::body_count() const { return state_->bodies.alive; }

std::size_t Space::awake_count() const {
    std::size_t n = 0;
    state_->bodies.moving.each([&](std::int32_t i) { n += state_->bodies.awake(i); });
    return n;
}

void Space::for_each_body(void (*f)(void* context, Body body), void* context) {
    for (std::int32_t i = 1; i < state_->bodies.size(); i++)
        if (state_->bodies.hot[std::size_t(i)].exists) f(context, Body(this, state_->bodies.id(i)));
}

void Space::for_each_moving(void (*f)(void* context, Body body), void* context) {
    const BitSet moving = state_->bodies.moving;  // f may wake others
    moving.each([&](std::int32_t i) {
        if (state_->bodies.hot[std::size_t(i)].exists) f(context, Body(this, state_->bodies.id(i)));
    });
}

std::span<const Contact> Space::contacts() const { return state_->contacts; }
std::span<const BodyId> Space::quarantined() const { return state_->quarantined; }

}  // namespace talus
