#include "dynamics/snapshot.h"

#include "dynamics/archive.h"
#include "dynamics/state.h"

#include <cassert>
#include <limits>

namespace talus {

namespace {

constexpr double kFarthest = 1e9;     // m from the origin: beyond, bodies are quarantined
constexpr float kBiggest = 1e8f;      // m, of a shape
constexpr double kMostNumber = 1e18;  // of contacts: the square of it is a float
constexpr float kMostSpeed = 1e30f;   // squared; of what moves freely: a step slows it down

template <class A, class T>
void archive_contact(A& a, T& c) {
    a(c.a, c.b, c.point, c.normal, c.impulse, c.approach_speed, c.began, c.with_terrain);
}

/// What of a body does not follow from its shape and attitude. `hot` and `cold` may be copies.
template <class A, class H, class C>
void archive_body(A& a, H& h, C& c, bool& bad) {
    a(h.position, h.velocity, h.spin, h.asleep, h.layer);
    a(c.motion, c.rotation, c.density, h.friction, h.restitution, c.linear_damping, c.angular_damping,
      c.rolling_resistance, c.gravity_factor, c.continuous, c.force, c.torque, bad);
    a(c.quiet_time, c.rest_position, c.rest_rotation, c.sleep_position);
}

/// A body that was just given nonsense is quarantined in the next step: until then it is kept as what it will
/// be frozen from.
void make_finite(BodyHot& h, BodyCold& c, bool& bad) {
    for (Vec3* v : {&h.velocity, &h.spin, &c.force, &c.torque}) {
        const float most = c.motion == MotionType::dynamic ? kMostSpeed : 1e12f;
        if (dot(*v, *v) <= most) continue;
        if (!is_finite(*v)) bad = true;
        const float big = std::fabs(v->x) + std::fabs(v->y) + std::fabs(v->z);
        *v = is_finite(*v) && std::isfinite(big) ? *v / big * (0.9f * std::sqrt(most)) : Vec3{};
    }
    for (DVec3* p : {&h.position, &c.rest_position, &c.sleep_position})
        for (int k = 0; k < 3; k++) {
            double& x = (*p)[k];
            x = x > kFarthest ? kFarthest : x < -kFarthest ? -kFarthest : std::isfinite(x) ? x : 0;
        }
    for (float* f : {&c.density, &h.friction, &h.restitution, &c.linear_damping, &c.angular_damping,
                     &c.rolling_resistance, &c.gravity_factor, &c.quiet_time})
        if (!std::isfinite(*f)) *f = 0;
}

bool is_unit(Quat q) {
    const float l = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return l > 0.999f && l < 1.001f;
}

void check_body(ByteReader& a, const BodyHot& h, const BodyCold& c) {
    a.check(is_unit(c.rotation) && is_unit(c.rest_rotation), "an attitude is no rotation");
    for (const DVec3& p : {h.position, c.rest_position, c.sleep_position})
        a.check(std::fabs(p.x) <= kFarthest && std::fabs(p.y) <= kFarthest && std::fabs(p.z) <= kFarthest,
                "a body is too far out");
    const float most = c.motion == MotionType::dynamic ? kMostSpeed : 1e12f;
    for (const Vec3& v : {h.velocity, h.spin, c.force, c.torque})
        a.check(dot(v, v) <= most, "a body is too fast");
    a.check(c.motion <= MotionType::fixed && h.layer < 16, "there is no such motion or layer");
    a.check(c.density >= 0 && c.density < 1e9f, "a density is out of range");
    a.check(sane_friction(h.friction) == h.friction, "a friction is out of range");
    a.check(sane_restitution(h.restitution) == h.restitution, "a restitution is out of range");
    for (const CollisionBox& b : c.shape.data()->solids)
        for (int k = 0; k < 3; k++)
            a.check(std::fabs(b.center[k]) <= kBiggest && b.half[k] >= 0 && b.half[k] <= kBiggest,
                    "a box of a shape is out of range");
}

void write_bodies(ByteWriter& a, const Space& space, const ShapeNames& names) {
    const BodyStore& bodies = space.state().bodies;
    a.size(bodies.hot.size());
    for (std::size_t i = 0; i < bodies.hot.size(); i++) {
        BodyHot h = bodies.hot[i];
        a(h.exists, bodies.generation[i], bodies.way[i], h.first_pair);
        if (!h.exists) continue;
        BodyCold c = bodies.cold[i];
        bool bad = bodies.bad[std::int32_t(i)];
        make_finite(h, c, bad);
        const BodyId id = bodies.id(std::int32_t(i));
        const std::uint32_t name = names.name_of ? names.name_of(names.context, id) : ShapeNames::kUnknown;
        a(name);
        if (name == ShapeNames::kUnknown)
            a(c.shapeless ? bodies.shapes.make(bodies.shapes.context, id) : c.shape);
        archive_body(a, h, c, bad);
    }
    a(bodies.free_slots());
}

void read_bodies(ByteReader& a, BodyStore& bodies, const ShapeNames& names) {
    const std::size_t n = a.size(17);
    a.check(n > 0, "the body of the world is missing");
    bodies = BodyStore();
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        a.part("body", i);
        if (i > 0) bodies.take_slot();
        BodyHot& h = bodies.hot.back();
        a(h.exists, bodies.generation.back(), bodies.way.back(), h.first_pair);
        a.check(bodies.way.back() >= 0 && bodies.way.back() < INT64_MAX / 8, "a way is out of range");
        a.check(i > 0 || !h.exists, "the world is no body");
        if (!h.exists || !a.ok()) continue;
        BodyCold& c = bodies.cold.take(i);
        const auto name = a.get<std::uint32_t>();
        if (name == ShapeNames::kUnknown)
            a(c.shape);
        else if (names.shape_of)
            c.shape = names.shape_of(names.context, name);
        a.check(name == ShapeNames::kUnknown || !c.shape.is_empty(), "there is no such shape");
        bool bad = false;
        archive_body(a, h, c, bad);
        if (!a.ok()) return;
        bodies.bad.put(std::int32_t(i), bad);
        bodies.forced.put(std::int32_t(i), c.force != Vec3{} || c.torque != Vec3{});
        check_body(a, h, c);
        if (!a.ok()) return;
        bodies.alive++;
        bodies.refresh_mass(std::int32_t(i));
        bodies.refresh_pose(std::int32_t(i));
        a.check(!h.asleep || h.dynamic, "a body sleeps that cannot move");
    }
    a.part("bodies");
    a(bodies.free_slots());
}

/// Each slot but the world's is a body's, free, or to be free after the next step; each once.
void check_slots(ByteReader& a, const BodyStore& bodies, const std::vector<std::int32_t>& freed) {
    std::vector<char> taken(bodies.hot.size(), 0);
    for (std::size_t i = 0; i < taken.size(); i++) taken[i] = i == 0 || bodies.hot[i].exists;
    for (const auto* list : {&bodies.free_slots(), &freed})
        for (const std::int32_t i : *list) {
            const bool free = i > 0 && i < bodies.size() && !taken[std::size_t(i)];
            a.check(free, "a slot is given away twice");
            if (!free) return;
            taken[std::size_t(i)] = 1;
        }
    for (const char t : taken) a.check(t != 0, "a slot is lost");
}

}  // namespace

std::vector<std::int32_t> BroadPhase::stale() const {
    std::vector<std::int32_t> list;
    stale_.each([&](std::int32_t i) { list.push_back(i); });
    return list;
}

void BroadPhase::check(ByteReader& a, const BodyStore& bodies, const std::vector<std::int32_t>& stale) {
    const std::size_t n = fat_.size();
    a.check(n <= bodies.hot.size(), "fat boxes are not as many as bodies");
    for (int k = 0; k < 3; k++) a.check(std::fabs(origin_[k]) <= 2e9, "the origin is too far out");
    for (std::size_t i = 1; i < bodies.hot.size(); i++)
        a.check(!bodies.hot[i].exists || i < n, "a body has no fat box");
    for (const std::int32_t i : stale)
        a.check(i > 0 && i < bodies.size() && bodies.hot[std::size_t(i)].exists, "no body to look at");
    if (!a.ok()) return;
    before_ = fat_;
    moved_.assign(n, 0);
    in_order_.assign(n, 0);
    for (std::int32_t i = 1; i < bodies.size(); i++) {
        if (!bodies.hot[std::size_t(i)].exists) continue;
        add(i);
        behind_.set(i);
    }
    stale_.clear();
    for (const std::int32_t i : stale) stale_.set(i);
}

namespace {

/// @param origin,position  of pairs with the world: BodyCold::world_origin and the other; else zero
template <class A, class T, class V>
void archive_pair(A& a, T& p, V& origin, V& position) {
    a(p.a, p.b, p.first, p.budget, p.offset, p.turn, origin, position, p.load, p.touching, p.vetoed,
      p.last_touch, p.first_contact, p.next[0], p.next[1]);
}

template <class A, class T>
void archive_manifold(A& a, T& m) {
    a(m.normal, m.tangent, m.count);
    for (std::int32_t k = 0; k < 4 && k < m.count; k++) {
        auto& p = m.points[k];
        a(p.on_a, p.on_b, p.impulse, p.separation);
    }
    a(m.friction_impulse[0], m.friction_impulse[1], m.friction_impulse[2], m.offset, m.friction,
      m.restitution, m.key, m.next, m.total_impulse, m.approach_speed);
}

}  // namespace

void PairTable::write(ByteWriter& a, const BodyStore& bodies, std::uint32_t step_number) const {
    a.size(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); i++) {
        a(pairs[i].dead);
        if (pairs[i].dead) continue;
        a(waits[i].until);
        Pair p = pairs[i];
        // Of a step whose contacts are gone; 0: there are none, though a pair may say that it touched then.
        if (step_number == 0 || p.last_touch != step_number) p.first_contact = -1;
        DVec3 origin, position;
        if (p.b == 0) {
            origin = bodies.cold[std::size_t(p.a)].world_origin;
            position = bodies.cold[std::size_t(p.a)].world_position;
        }
        archive_pair(a, p, origin, position);
    }
    a(free_pairs_);
    // Free manifolds in the order in which they will be used.
    std::vector<std::int32_t> free;
    for (std::int32_t m = free_manifold_; m >= 0; m = manifolds[std::size_t(m)].next) free.push_back(m);
    a.size(manifolds.size());
    a(free);
    std::vector<char> is_free(manifolds.size(), 0);
    for (const std::int32_t m : free) is_free[std::size_t(m)] = 1;
    for (std::size_t m = 0; m < manifolds.size(); m++)
        if (!is_free[m]) archive_manifold(a, manifolds[m]);
}

void PairTable::read(ByteReader& a, BodyStore& bodies) {
    assert(pairs.empty() && manifolds.empty());
    a.part("pairs");
    const std::size_t n = a.size();
    for (std::size_t i = 0; i < n && a.ok(); i++) {
        Pair& p = pairs.emplace_back();
        PairWait& w = waits.emplace_back();
        a(p.dead);
        w.until = PairWait::kNever;
        if (p.dead) continue;
        a(w.until);
        DVec3 origin, position;
        archive_pair(a, p, origin, position);
        a.check(p.a > p.b && p.b >= 0 && p.a < bodies.size() && bodies.hot[std::size_t(p.a)].exists,
                "a pair of what are no two bodies");
        if (!a.ok()) return;
        if (p.b == 0) {
            bodies.cold[std::size_t(p.a)].world_origin = origin;
            bodies.cold[std::size_t(p.a)].world_position = position;
        }
        w.a = p.a;
        w.b = p.b;
        a.check(find(p.a, p.b) < 0, "a pair is there twice");
        used_++;
        put(std::int32_t(i));
    }
    a(free_pairs_);
    std::vector<char> seen(pairs.size(), 0);
    for (const std::int32_t i : free_pairs_) {
        const bool right = i >= 0 && std::size_t(i) < n && pairs[std::size_t(i)].dead &&
                           !std::exchange(seen[std::size_t(i)], 1);
        a.check(right, "a free pair is none");
        if (!right) return;
    }
    a.check(used_ + free_pairs_.size() == pairs.size(), "a free pair is lost");

    a.part("contacts");
    const auto all = a.get<std::uint32_t>();
    const auto free = a.get<std::vector<std::int32_t>>();
    a.check(all >= free.size() && (all - free.size()) <= a.left() / 80, "there are not so many contacts");
    if (!a.ok()) return;
    manifolds.resize(all);
    seen.assign(all, 0);
    for (std::size_t k = 0; k < free.size(); k++) {
        const std::int32_t i = free[k];
        const bool right = i >= 0 && std::size_t(i) < all && !std::exchange(seen[std::size_t(i)], 1);
        a.check(right, "a free contact is none");
        if (!right) return;
        manifolds[std::size_t(i)].next = k + 1 < free.size() ? free[k + 1] : -1;
    }
    free_manifold_ = free.empty() ? -1 : free[0];
    contacts_ = all - free.size();
    for (std::size_t m = 0; m < all && a.ok(); m++) {
        if (seen[m]) continue;
        archive_manifold(a, manifolds[m]);
        a.check(manifolds[m].count >= 1 && manifolds[m].count <= 4, "a contact of no points");
    }
    // Every contact is a pair's.
    for (Pair& p : pairs) {
        if (!a.ok()) return;
        if (p.dead) continue;
        a.check(p.first >= 0 || !p.touching, "a touching pair has no contact");
        for (std::int32_t m = p.first; m >= 0; m = manifolds[std::size_t(m)].next) {
            const bool right = std::size_t(m) < all && !std::exchange(seen[std::size_t(m)], 1);
            a.check(right, "a contact is two pairs'");
            if (!right) return;
            manifolds[std::size_t(m)].a = p.a;
            manifolds[std::size_t(m)].b = p.b;
        }
    }
    for (const char s : seen) a.check(s != 0, "a contact is no pair's");
}

bool PairTable::link_back(std::int32_t body, std::int32_t first, std::vector<char>& seen) {
    std::int32_t before = -1;
    for (std::int32_t i = first; i >= 0;) {
        if (std::size_t(i) >= pairs.size()) return false;
        Pair& p = pairs[std::size_t(i)];
        if (p.dead || (p.a != body && p.b != body)) return false;
        const int side = p.a == body ? 0 : 1;
        if (seen[std::size_t(i)] & (1 << side)) return false;
        seen[std::size_t(i)] = char(seen[std::size_t(i)] | (1 << side));
        p.prev[side] = before;
        before = i;
        i = p.next[side];
    }
    return true;
}

void write_space(ByteWriter& a, const Space& space, const ShapeNames& names) {
    const Space::State& s = space.state();
    a(s.settings.allow_sleep, s.paused, s.step_number, s.last_dt);
    for (const std::uint16_t mask : s.layers) a(mask);
    a(s.world.has_ground, s.world.ground, s.world.ground_friction);
    write_bodies(a, space, names);
    a(s.freed);
    s.pairs.write(a, s.bodies, s.contacts.empty() ? 0 : s.step_number);
    a(s.broad, s.broad.stale(), s.sleep, s.solver);
    a.size(s.contacts.size());
    for (const Contact& c : s.contacts) archive_contact(a, c);
    a(s.next_contact, s.quarantined);
}

void read_space(ByteReader& a, Space& space, const ShapeNames& names) {
    Space::State& s = space.state();
    assert(s.bodies.alive == 0 && s.pairs.pairs.empty());
    a.part("space");
    a(s.settings.allow_sleep, s.paused, s.step_number, s.last_dt);
    a.check(s.last_dt > 0 && s.last_dt < 10, "a step is out of range");
    for (std::uint16_t& mask : s.layers) a(mask);
    a(s.world.has_ground, s.world.ground, s.world.ground_friction);
    a.check(std::fabs(s.world.ground) <= 1e9, "the ground is out of range");
    read_bodies(a, s.bodies, names);
    a(s.freed);
    check_slots(a, s.bodies, s.freed);
    if (!a.ok()) return;
    a.most = kMostNumber;
    s.pairs.read(a, s.bodies);
    if (!a.ok()) return;
    a.part("pairs");
    std::vector<char> seen(s.pairs.pairs.size(), 0);
    for (std::int32_t i = 0; i < s.bodies.size(); i++) {
        BodyHot& h = s.bodies.hot[std::size_t(i)];
        const bool right = (h.exists && i > 0) ? s.pairs.link_back(i, h.first_pair, seen) : h.first_pair < 0;
        a.check(right, "a list of pairs is none");
        if (!right) return;
    }
    for (std::size_t i = 0; i < seen.size(); i++) {
        const Pair& p = s.pairs.pairs[i];
        a.check(seen[i] == (p.dead ? 0 : p.b == 0 ? 1 : 3), "a pair is in no list");
    }
    for (const Pair& p : s.pairs.pairs) a.check(p.budget <= 1e9f, "a pair's way is out of range");
    a.part("boxes of bodies");
    std::vector<std::int32_t> stale;
    a(s.broad, stale, s.sleep, s.solver);
    if (!a.ok()) return;
    s.broad.check(a, s.bodies, stale);
    a.part("contacts of the last step");
    const std::size_t n = a.size(50);
    for (std::size_t i = 0; i < n && a.ok(); i++) archive_contact(a, s.contacts.emplace_back());
    a(s.next_contact, s.quarantined);
    a.check(s.next_contact.size() == s.contacts.size(), "contacts have no order");
    const auto count = std::int32_t(s.next_contact.size());
    for (std::int32_t k = 0; k < count; k++) {
        const std::int32_t next = s.next_contact[std::size_t(k)];
        a.check(next == -1 || (next > k && next < count), "contacts are out of order");
    }
    a.most = std::numeric_limits<double>::infinity();
    for (const Pair& p : s.pairs.pairs)
        a.check(p.dead || (p.last_touch <= s.step_number && p.first_contact >= -1 && p.first_contact < count),
                "a pair's last contact is none");
}

}  // namespace talus
