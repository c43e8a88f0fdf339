// blast.cpp - explosions: rays that lose energy in air and in blocks, break what they reach and push what is
// left.
#include "world/blast_rule.h"

#include "base/hash.h"
#include "world/level_state.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace talus {

namespace {

constexpr double kStep = kBlastStep, kAirLoss = kBlastAirLoss;
constexpr double kResistanceOffset = 0.3;
constexpr double kRaysPerSquareMetre = 4;  // on the sphere of the blast's reach: no cell there is missed
constexpr double kMaxPower = 64;           // 85 m of reach; rays grow with its square
// Share of the life that counts as used up when blasts wear a block: two that each fell just short break it.
constexpr float kWornThrough = 0.98f;
// Impulse of a blast over the whole sphere, N s for power 1: a stone block with its middle 2 m from TNT
// leaves at about 6 m/s.
constexpr double kImpulse = 80'000;
constexpr float kLeastPush = 0.02f;  // m/s; weaker pushes wake nobody

struct CellHash {
    std::size_t operator()(Cell c) const {
        return std::size_t(
            mix64(mix64(std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.y)) + std::uint32_t(c.z)));
    }
};

/// Something a ray may meet: the terrain, or a group seen in its own frame.
struct Target {
    Group* group = nullptr;  // null: terrain
    GroupId id;
    const Grid* grid = nullptr;
    DVec3 origin;                                       // of the blast, in the grid's frame, metres
    DVec3 middle;                                       // of the grid's bounds, likewise
    double radius = 0;                                  // around it
    std::unordered_map<Cell, float, CellHash> reached;  // largest share of its threshold that reached a block
};

std::vector<Target> find_targets(LevelState& level, DVec3 center, double reach) {
    std::vector<Target> targets;
    const DVec3 r{reach, reach, reach};
    const DBox box{center - r, center + r};
    auto add = [&](Group* group, const Grid& grid, DVec3 origin) {
        const CellBox b = grid.bounds();
        const double e = level.settings.cell_size;
        const DVec3 lo{b.min.x * e, b.min.y * e, b.min.z * e};
        const DVec3 hi{(b.max.x + 1) * e, (b.max.y + 1) * e, (b.max.z + 1) * e};
        Target t;
        t.group = group;
        if (group) t.id = group->id;
        t.grid = &grid;
        t.origin = origin;
        t.middle = (lo + hi) * 0.5;
        t.radius = length(hi - lo) * 0.5;
        targets.push_back(std::move(t));
    };
    if (!level.terrain().empty()) add(nullptr, level.terrain(), center);
    for (GroupId id : level.ids()) {
        Group* group = level.find(id);
        if (group->body.exists() && overlaps(group->body.bounds(), box))
            add(group, group->grid, to_double(group->body.to_local(center)));
    }
    return targets;
}

/// Even directions: the six faces of a cube cut into n x n, their borders at equal angles. The set is the
/// same after any quarter turn or mirroring, so a turned scene breaks the same way.
std::vector<Vec3> even_directions(double wanted) {
    const int n = std::max(4, int(std::sqrt(wanted / 6)) + 1);
    std::vector<double> t;  // tangents of equal angles from -45 to 45 degrees, symmetric to the bit
    for (int i = 0; i < n; i++) {
        const int mirror = 2 * i + 1 - n;
        const SinCos a = sin_cos(0.78539816339744831 * std::abs(mirror) / n);
        t.push_back((mirror < 0 ? -1 : 1) * a.sin / a.cos);
    }
    std::vector<Vec3> out;
    out.reserve(std::size_t(6 * n * n));
    for (double u : t)
        for (double v : t) {
            const double l = 1 / std::sqrt(1 + u * u + v * v);
            const float a = float(l), b = float(u * l), c = float(v * l);
            for (float s : {a, -a}) {
                out.push_back({s, b, c});
                out.push_back({c, s, b});
                out.push_back({b, c, s});
            }
        }
    return out;
}

/// The stretch of a ray inside a target's bounding sphere.
struct Stretch {
    Target* target;
    DVec3 direction;  // in the target's frame
    double from, to;
};

/// One ray: f(distance, energy, target, cell) at each step inside a block; f returns the energy left, <= 0
/// ends it.
template <class F>
void cast_blast_ray(LevelState& level, std::vector<Target>& targets, DVec3 center, Vec3 direction,
                    double power, SmoothLoss& smooth, std::vector<Stretch>& stretches, F&& f) {
    stretches.clear();
    smooth.next_ray();
    double last = 0;  // of what it may meet
    for (Target& t : targets) {
        const DVec3 d =
            t.group ? to_double(t.group->body.direction_to_local(direction)) : to_double(direction);
        const DVec3 m = t.origin - t.middle;
        const double b = dot(m, d), c = dot(m, m) - t.radius * t.radius;
        const double disc = b * b - c;
        if (disc < 0) continue;
        const double root = std::sqrt(disc);
        if (-b + root < 0) continue;
        stretches.push_back({&t, d, -b - root, -b + root});
        if (-b + root > last) last = -b + root;
    }
    if (stretches.empty()) return;
    const double e = level.settings.cell_size;
    const double ground =
        level.settings.ground ? *level.settings.ground : -std::numeric_limits<double>::infinity();
    double energy = power;
    for (double t = 0; energy > 0 && t <= last; t += kStep, energy -= kAirLoss) {
        if (center.y + double(direction.y) * t < ground) return;
        energy = smooth.pass(energy, center + to_double(direction) * t, t, kStep);
        if (!(energy > 0)) return;
        for (const Stretch& s : stretches) {
            if (t < s.from || t > s.to) continue;
            const DVec3 p = (s.target->origin + s.direction * t) / e;
            const Cell cell = to_cell(p);
            if (!s.target->grid->has(cell)) continue;
            energy = f(t, energy, *s.target, cell);
            break;
        }
    }
}

/// The build a block wears for; nullptr: it does not wear.
Build* bears_load_at(const LevelState& level, const Target& target, Cell cell) {
    if (!target.group) return structure_at(level, cell);
    return target.group->bears() ? target.group : nullptr;
}

DVec3 place_of(const LevelState& level, const Target& target, Cell cell) {
    return target.group ? block_center(level, *target.group, cell) : cell_center(level, cell);
}

void push_bodies(LevelState& level, DVec3 center, double power, double reach,
                 const std::vector<Vec3>& directions) {
    struct Push {
        Body body;
        DVec3 point;
        Vec3 impulse;
    };
    std::vector<Target> targets = find_targets(level, center, reach);
    std::vector<Push> pushes;
    std::vector<Stretch> stretches;
    SmoothLoss smooth(level);
    for (Vec3 d : directions)
        cast_blast_ray(
            level, targets, center, d, power, smooth, stretches,
            [&](double t, double energy, Target& target, Cell cell) {
                if (!level.table.flags(target.grid->get(cell)).solid) return energy;
                if (target.group) {
                    const double impulse = kImpulse * energy / double(directions.size());
                    pushes.push_back({target.group->body, center + to_double(d) * t, d * float(impulse)});
                }
                return 0.0;
            });
    for (Target& target : targets) {
        if (!target.group) continue;
        Vec3 total;
        for (const Push& p : pushes)
            if (p.body == target.group->body) total += p.impulse;
        if (length(total) < kLeastPush * target.group->body.mass()) continue;
        for (Push& p : pushes)
            if (p.body == target.group->body) p.body.add_impulse_at(p.impulse, p.point);
    }
}

/// Share of a box that the blast sees past terrain and groups: 27 points of it, each by a ray.
double exposure_of(LevelState& level, std::vector<Target>& targets, DVec3 center, double power,
                   const DBox& box, SmoothLoss& smooth, std::vector<Stretch>& stretches) {
    int seen = 0;
    for (int i = 0; i < kBlastPoints; i++) {
        const DVec3 point = blast_point(box, i);
        const double distance = length(point - center);
        bool hidden = smooth.hides(power, center, point, kAirLoss, kStep);
        if (distance > 0 && !hidden)
            cast_blast_ray(level, targets, center, to_float((point - center) * (1 / distance)), power, smooth,
                           stretches, [&](double t, double energy, Target& target, Cell cell) {
                               if (t >= distance) return 0.0;
                               if (!level.table.flags(target.grid->get(cell)).solid) return energy;
                               hidden = true;
                               return 0.0;
                           });
        seen += !hidden;
    }
    return seen / double(kBlastPoints);
}

/// What is not a group: a host's bodies in the space, and its players and creatures.
void push_others(LevelState& level, DVec3 center, double power, double reach) {
    const DVec3 r{reach, reach, reach};
    const DBox box{center - r, center + r};
    std::vector<Body> bodies;
    for (const Body& body : level.space.bodies_in(box))
        if (!level.owner_of(body) && body.motion() == MotionType::dynamic) bodies.push_back(body);
    std::vector<BlastTargets::Target> others;
    if (level.blast_targets) level.blast_targets->find(box, others);
    if (bodies.empty() && others.empty()) return;
    std::vector<Target> targets = find_targets(level, center, reach);
    std::vector<Stretch> stretches;
    SmoothLoss smooth(level);
    struct Push {
        Vec3 direction;
        double exposure = 0, energy = 0, distance = 0;
    };
    auto push_of = [&](const DBox& bounds) {
        Push out;
        const DVec3 to = (bounds.min + bounds.max) * 0.5 - center;
        out.distance = length(to);
        if (out.distance >= reach) return out;
        out.direction = out.distance > 0 ? to_float(to * (1 / out.distance)) : Vec3{0, 1, 0};
        out.exposure = exposure_of(level, targets, center, power, bounds, smooth, stretches);
        out.energy = power * (1 - out.distance / reach);
        return out;
    };
    for (Body& body : bodies) {
        const DBox b = body.bounds();
        const Push p = push_of(b);
        if (!(p.exposure > 0)) continue;
        // As many of the even rays as meet it: its share of the sphere, half of it at most.
        const DVec3 size = b.max - b.min;
        const DVec3 n = to_double(p.direction);
        const double area = std::fabs(n.x) * size.y * size.z + std::fabs(n.y) * size.x * size.z +
                            std::fabs(n.z) * size.x * size.y;
        const double sphere = 4 * 3.14159265358979 * p.distance * p.distance;
        const double share = area < 0.5 * sphere ? area / sphere : 0.5;
        const auto impulse = float(kImpulse * p.energy * share * p.exposure);
        if (impulse >= kLeastPush * body.mass()) body.add_impulse(p.direction * impulse);
    }
    // All is known before the host is told: it may blast in turn, and what stood here is gone then.
    std::vector<Push> told;
    for (const BlastTargets::Target& other : others) told.push_back(push_of(other.bounds));
    BlastTargets* const host = level.blast_targets;
    for (std::size_t i = 0; i < others.size() && level.blast_targets == host; i++) {
        const Push& p = told[i];
        if (!(p.exposure > 0)) continue;
        const auto speed = float(kBlastPlayerSpeed * (1 - p.distance / reach) * p.exposure);
        host->push(others[i].id, p.direction * speed, float(p.exposure), float(p.energy * p.exposure));
    }
}

}  // namespace

std::size_t explode(LevelState& level, DVec3 center, float given_power) {
    const double power = std::min(double(given_power), kMaxPower);
    const double far = std::fabs(center.x) + std::fabs(center.y) + std::fabs(center.z);
    if (!(far <= kMaxRecordPosition) || !(power > 0)) return 0;
    level.events.push_back({.kind = LevelEvent::Kind::blast, .point = center, .value = float(power)});
    const double reach = blast_reach(power);
    if (level.host_terrain) {
        const double e = level.settings.cell_size;
        const DVec3 lo = (center - DVec3{reach, reach, reach}) / e,
                    hi = (center + DVec3{reach, reach, reach}) / e;
        if (is_cell(lo) && is_cell(hi)) level.host_terrain->bring({to_cell(lo), to_cell(hi)});
    }
    std::vector<Target> targets = find_targets(level, center, reach);
    const std::vector<Vec3> directions =
        even_directions(kRaysPerSquareMetre * 4 * 3.14159265358979 * reach * reach);

    std::vector<Stretch> stretches;
    SmoothLoss smooth(level);
    for (Vec3 d : directions)
        cast_blast_ray(
            level, targets, center, d, power, smooth, stretches,
            [&](double, double energy, Target& target, Cell cell) {
                const BlockType& type = target.grid->type_at(cell);
                float& reached = target.reached[cell];
                if (!level.table.flags(target.grid->get(cell)).solid) {
                    if (may_break(level, target.grid->get(cell), place_of(level, target, cell), Cause::blast))
                        reached = 1;
                    return energy;
                }
                if (type.material.hardness < 0) return 0.0;
                if (!level.protected_regions.empty() && is_protected(level, place_of(level, target, cell)))
                    return 0.0;
                const double cost = (double(type.material.blast_resistance) + kResistanceOffset) * kStep;
                const auto share = float(energy / cost);
                if (share > reached) reached = share;
                return energy - cost;
            });

    const std::uint64_t before = level.destroyed;
    for (Target& target : targets) {
        if (target.group && !level.find(target.id)) continue;  // a hook of another's type took it away
        std::vector<Cell> broken;
        for (const auto& [cell, share] : target.reached) {
            if (!target.grid->has(cell)) continue;  // likewise
            const bool solid = level.table.flags(target.grid->get(cell)).solid;
            if (solid ? share > 1 : share > 0) {
                broken.push_back(cell);
            } else if (Build* build = bears_load_at(level, target, cell); build && share > 0) {
                float amount = 0.5f * share;
                if (build->type()) amount = build->type()->blast_wear(build->view(), cell, share, amount);
                if (!(amount > 0)) continue;
                float& wear = build->wear[cell];
                wear += amount;
                if (wear >= kWornThrough) broken.push_back(cell);
            }
        }
        std::sort(broken.begin(), broken.end());  // out of the hash's order
        for (Cell cell : broken) {
            const BlockId block = target.grid->get(cell);
            const DVec3 at = place_of(level, target, cell);
            if (target.group) {
                take_block(level, *target.group, cell, Cause::blast);
            } else {
                change_terrain(level, cell, kAir, Cause::blast);
                if (target.grid->has(cell)) continue;  // a host refused
            }
            drop_block(level, block, Cause::blast, at, 1 / power);
        }
        tell_terrain_changes(level);
        if (target.group && !broken.empty() && keep_solids(level, *target.group) &&
            split_loose_parts(level, *target.group))
            update_body(level, *target.group);
    }
    push_bodies(level, center, power, reach, directions);
    push_others(level, center, power, reach);
    dig_crater(level, center, power, kAirLoss, kStep);
    return std::size_t(level.destroyed - before);
}

}  // namespace talus
