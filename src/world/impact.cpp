#include "world/level_state.h"

#include <algorithm>

namespace talus {

namespace {

constexpr int kBlocksPerTick = 4;  // worn in one group, one tick
constexpr float kImpactScale = 6;  // m/s above the threshold that wear strength 1 through, at 2,500 kg
constexpr double kImpactMass = 2500;

/// The solid at a contact: the cell just behind the touched surface, or the nearest solid beside it.
std::optional<Cell> touched_block(const LevelState& level, const Group& group, DVec3 point, Vec3 inward) {
    const float e = level.settings.cell_size;
    const Vec3 local =
        (group.body.to_local(point) + group.body.direction_to_local(inward) * (0.1f * e)) * (1 / e);
    const Cell cell{int(std::floor(local.x)), int(std::floor(local.y)), int(std::floor(local.z))};
    if (group.grid.is_solid(cell)) return cell;
    std::optional<Cell> best;
    float best_distance = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dx = -1; dx <= 1; dx++) {
                const Cell c = cell + Cell{dx, dy, dz};
                if (!group.grid.is_solid(c)) continue;
                const Vec3 d = Vec3{float(c.x) + 0.5f, float(c.y) + 0.5f, float(c.z) + 0.5f} - local;
                if (!best || dot(d, d) < best_distance) {
                    best_distance = dot(d, d);
                    best = c;
                }
            }
    return best;
}

struct Blow {
    GroupId victim;
    Cell cell;
    float amount;
};

}  // namespace

void wear_by_impacts(LevelState& level) {
    // A block met by several points of one contact is worn once, by the hardest of them.
    std::vector<Blow> blows;
    auto strike = [&](Group* victim, DVec3 point, Vec3 inward, float amount) {
        if (!victim || !victim->bears_load) return;
        const auto cell = touched_block(level, *victim, point, inward);
        if (!cell) return;
        amount /= strength_of(victim->grid.type_at(*cell).material) * level.settings.strength_factor;
        int worn = 0;
        for (Blow& blow : blows) {
            if (!(blow.victim == victim->id)) continue;
            if (blow.cell == *cell) {
                blow.amount = std::max(blow.amount, amount);
                return;
            }
            worn++;
        }
        if (worn < kBlocksPerTick) blows.push_back({victim->id, *cell, amount});
    };
    for (const Contact& contact : level.space.contacts()) {
        if (!(contact.approach_speed > level.settings.impact_speed)) continue;
        Group* a = level.owner_of(level.space.body(contact.a));
        Group* b = contact.with_terrain ? nullptr : level.owner_of(level.space.body(contact.b));
        const float speed = contact.approach_speed - level.settings.impact_speed;
        bool struck = false;
        for (Group* hitter : {a, b}) {
            if (!hitter || !hitter->bears_load || hitter->grid.solid_count() < 2) continue;
            const float amount =
                speed / kImpactScale * float(std::clamp(hitter->moments.mass / kImpactMass, 0.5, 4.0));
            strike(a, contact.point, -contact.normal, amount);
            strike(b, contact.point, contact.normal, amount);
            struck = true;
        }
        if (struck)
            level.events.push_back({.kind = LevelEvent::Kind::impact,
                                    .group = a ? a->id : b->id,
                                    .point = contact.point,
                                    .value = contact.impulse});
    }
    for (const Blow& blow : blows) {
        Group* victim = level.find(blow.victim);
        if (add_wear(level, *victim, blow.cell, blow.amount)) victim->breaking.push_back(blow.cell);
    }
}

bool remove_broken_blocks(LevelState& level, Group& group) {
    for (Cell cell : group.breaking)
        if (group.grid.has(cell)) take_block(level, group, cell, Cause::impact);
    group.breaking.clear();
    return keep_solids(level, group);
}

bool crumble_debris(LevelState& level, Group& group) {
    const LevelSettings& s = level.settings;
    if (s.debris_ticks == 0 || !group.is_debris || group.asleep_ticks < std::uint32_t(s.debris_ticks))
        return true;
    std::vector<Cell> cells;
    group.grid.for_each([&](Cell cell, BlockId) { cells.push_back(cell); });
    for (Cell cell : cells) take_block(level, group, cell, Cause::debris);
    destroy_group(level, group);
    return false;
}

}  // namespace talus
