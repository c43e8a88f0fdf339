// blast.cpp - explosions: rays that lose energy in air and in blocks, break what they reach and push what is
// left.
#include "base/hash.h"
#include "world/level_state.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace talus {

namespace {

constexpr double kStep = 0.3;       // metres along a ray
constexpr double kAirLoss = 0.225;  // energy a step
constexpr double kResistanceOffset = 0.3;
constexpr double kRaysPerSquareMetre = 4;  // on the sphere of the blast's reach: no cell there is missed
constexpr double kMaxPower = 64;           // 85 m of reach; rays grow with its square
// Share of the life that counts as used up when blasts wear a block: two that each fell just short break it.
constexpr float kWornThrough = 0.98f;
// Impulse of a blast over the whole sphere, N s for power 1: a stone block 2 m from TNT leaves at about 8
// m/s.
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
                    double power, std::vector<Stretch>& stretches, F&& f) {
    stretches.clear();
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
    }
    if (stretches.empty()) return;
    const double e = level.settings.cell_size;
    const double ground =
        level.settings.ground ? *level.settings.ground : -std::numeric_limits<double>::infinity();
    double energy = power;
    for (double t = 0; energy > 0; t += kStep, energy -= kAirLoss) {
        if (center.y + double(direction.y) * t < ground) return;
        for (const Stretch& s : stretches) {
            if (t < s.from || t > s.to) continue;
            const DVec3 p = (s.target->origin + s.direction * t) / e;
            const Cell cell{int(std::floor(p.x)), int(std::floor(p.y)), int(std::floor(p.z))};
            if (!s.target->grid->has(cell)) continue;
            energy = f(t, energy, *s.target, cell);
            break;
        }
    }
}

/// The build a block wears for; nullptr: it does not wear.
Build* bears_load_at(const LevelState& level, const Target& target, Cell cell) {
    if (!target.group) return structure_at(level, cell);
    return target.group->bears_load ? target.group : nullptr;
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
    for (Vec3 d : directions)
        cast_blast_ray(
            level, targets, center, d, power, stretches,
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

}  // namespace

std::size_t explode(LevelState& level, DVec3 center, float given_power) {
    const double power = std::min(double(given_power), kMaxPower);
    if (!is_finite(center) || !(power > 0)) return 0;
    level.events.push_back({.kind = LevelEvent::Kind::blast, .point = center, .value = float(power)});
    const double reach = power / kAirLoss * kStep;
    std::vector<Target> targets = find_targets(level, center, reach);
    const std::vector<Vec3> directions =
        even_directions(kRaysPerSquareMetre * 4 * 3.14159265358979 * reach * reach);

    std::vector<Stretch> stretches;
    for (Vec3 d : directions)
        cast_blast_ray(level, targets, center, d, power, stretches,
                       [&](double, double energy, Target& target, Cell cell) {
                           const BlockType& type = target.grid->type_at(cell);
                           float& reached = target.reached[cell];
                           if (!level.table.flags(target.grid->get(cell)).solid) {
                               reached = 1;
                               return energy;
                           }
                           if (type.material.hardness < 0) return 0.0;
                           const double cost =
                               (double(type.material.blast_resistance) + kResistanceOffset) * kStep;
                           const auto share = float(energy / cost);
                           if (share > reached) reached = share;
                           return energy - cost;
                       });

    const std::uint64_t before = level.destroyed;
    for (Target& target : targets) {
        std::vector<Cell> broken;
        for (const auto& [cell, share] : target.reached) {
            if (share > 1) {
                broken.push_back(cell);
            } else if (target.grid->table().flags(target.grid->get(cell)).solid == false) {
                broken.push_back(cell);
            } else if (Build* build = bears_load_at(level, target, cell); build && share > 0) {
                float& wear = build->wear[cell];
                wear += 0.5f * share;
                if (wear >= kWornThrough) broken.push_back(cell);
            }
        }
        std::sort(broken.begin(), broken.end());  // out of the hash's order
        for (Cell cell : broken) {
            if (target.group)
                take_block(level, *target.group, cell, Cause::blast);
            else
                change_terrain(level, cell, kAir, Cause::blast);
        }
        tell_terrain_changes(level);
        if (target.group && !broken.empty() && keep_solids(level, *target.group) &&
            split_loose_parts(level, *target.group))
            update_body(level, *target.group);
    }
    push_bodies(level, center, power, reach, directions);
    return std::size_t(level.destroyed - before);
}

}  // namespace talus
