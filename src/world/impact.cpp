#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kBlocksPerTick = 4;  // worn in one group, one tick
constexpr float kImpactScale = 6;  // m/s above the threshold that wear strength 1 through, at 2,500 kg
constexpr double kImpactMass = 2500;

/// The solid at a contact: the cell the point lies in, or the nearest solid beside it.
/// @param p  just behind the touched surface, in cells of the grid
std::optional<Cell> touched_block(const Grid& grid, DVec3 p) {
    const Cell cell = to_cell(p);
    if (grid.is_solid(cell)) return cell;
    std::optional<Cell> best;
    double best_distance = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dx = -1; dx <= 1; dx++) {
                const Cell c = cell + Cell{dx, dy, dz};
                if (!grid.is_solid(c)) continue;
                const DVec3 d = DVec3{c.x + 0.5, c.y + 0.5, c.z + 0.5} - p;
                if (!best || dot(d, d) < best_distance) {
                    best_distance = dot(d, d);
                    best = c;
                }
            }
    return best;
}

/// One side of a hit.
struct Side {
    Build* build = nullptr;  ///< null: nothing that wears
    Structure* structure = nullptr;
    Cell cell;
    BlockId block = kAir;
    std::optional<DVec3> center;  ///< of the block, world
};

/// @param point  nudged into the side
Side side_of(const LevelState& level, Group* group, DVec3 point) {
    const double e = level.settings.cell_size;
    Side side;
    if (group) {
        const auto cell = touched_block(group->grid, to_double(group->body.to_local(point)) / e);
        if (!cell) return side;
        side.cell = *cell;
        side.block = group->grid.get(*cell);
        side.center = block_center(level, *group, *cell);
        if (group->bears()) side.build = group;
        return side;
    }
    const auto cell = touched_block(level.terrain(), point / e);
    if (!cell) {
        side.block = smooth_block_near(level, point);
        return side;
    }
    side.cell = *cell;
    side.block = level.terrain().get(*cell);
    side.center = cell_center(level, *cell);
    side.structure = structure_at(level, *cell);
    side.build = side.structure;
    return side;
}

/// A point moved sideways, along the touched surface, towards what is before it: contact points lie on the
/// edges of blocks, and the block in front of the other's is meant.
DVec3 towards(DVec3 point, std::optional<DVec3> other, DVec3 normal, double by) {
    if (!other) return point;
    DVec3 d = *other - point;
    d = d - normal * dot(d, normal);
    const double l = length(d);
    return l > 0 ? point + d * (by / l) : point;
}

struct Blow {
    Side victim;
    float amount;
};

}  // namespace

void wear_by_impacts(LevelState& level) {
    // A block met by several points of one contact is worn once, by the hardest of them.
    std::vector<Blow> blows;
    auto strike = [&](const Side& victim, float amount) {
        if (!victim.build) return;
        amount /= strength_at(level, *victim.build, victim.cell);
        int worn = 0;
        for (Blow& blow : blows) {
            if (blow.victim.build != victim.build) continue;
            if (blow.victim.cell == victim.cell) {
                blow.amount = blow.amount < amount ? amount : blow.amount;
                return;
            }
            worn++;
        }
        if (worn < kBlocksPerTick) blows.push_back({victim, amount});
    };
    for (const Contact& contact : level.space.contacts()) {
        if (!(contact.approach_speed > level.settings.impact_speed)) continue;
        Group* a = level.owner_of(level.space.body(contact.a));
        Group* b = contact.with_terrain ? nullptr : level.owner_of(level.space.body(contact.b));
        const float speed = contact.approach_speed - level.settings.impact_speed;
        const DVec3 normal = to_double(contact.normal);
        const double nudge = 0.1 * double(level.settings.cell_size);
        if (!a && !b) continue;
        Side of_a, of_b;
        if (a) of_a = side_of(level, a, contact.point - normal * nudge);
        if (b || contact.with_terrain)
            of_b = side_of(level, b, towards(contact.point, of_a.center, normal, nudge) + normal * nudge);
        for (Group* hitter : {a, b}) {
            if (!hitter || !hitter->bears() || hitter->grid.solid_count() < 2) continue;
            const double mass = moments_of(level, *hitter).mass;
            const float amount = speed / kImpactScale * float(std::clamp(mass / kImpactMass, 0.5, 4.0));
            strike(of_a, amount);
            strike(of_b, amount);
        }
        level.events.push_back({.kind = LevelEvent::Kind::impact,
                                .group = a ? a->id : b->id,
                                .block = a ? of_a.block : of_b.block,
                                .other_block = a ? of_b.block : kAir,
                                .point = contact.point,
                                .value = contact.impulse});
    }
    for (const Blow& blow : blows) {
        if (is_protected(level, *blow.victim.center)) continue;
        if (!add_wear(level, *blow.victim.build, blow.victim.cell, blow.amount)) continue;
        blow.victim.build->breaking.push_back(blow.victim.cell);
        if (blow.victim.structure) put_to_work(level, *blow.victim.structure);
    }
}

bool remove_broken_blocks(LevelState& level, Group& group) {
    for (Cell cell : group.breaking)
        if (group.grid.has(cell)) take_block(level, group, cell, Cause::impact);
    drop(group.breaking);
    return keep_solids(level, group);
}

void crumble(LevelState& level, Group& group) {
    level.events.push_back({.kind = LevelEvent::Kind::debris_gone,
                            .group = group.id,
                            .point = group.body.center_of_mass(),
                            .value = float(group.grid.block_count())});
    std::vector<Cell> cells;
    group.grid.for_each([&](Cell cell, BlockId) { cells.push_back(cell); });
    for (Cell cell : cells) take_block(level, group, cell, Cause::debris);
    destroy_group(level, group);
}

bool crumble_debris(LevelState& level, Group& group) {
    const int ticks = group.debris_ticks >= 0 ? group.debris_ticks : level.settings.debris_ticks;
    if (ticks == 0 || !group.is_debris || group.asleep_ticks < std::uint32_t(ticks) ||
        touches_protected(level, group))
        return true;
    crumble(level, group);
    return false;
}

}  // namespace talus
