#include "world/structure_check.h"

#include "world/level_state.h"

#include <algorithm>
#include <map>

namespace talus {

namespace {

// The answer is applied one tick later, and one more for each so many solids.
constexpr std::size_t kSolidsPerTick = 200'000;

void run_check(void* context, std::size_t) {
    auto& check = *static_cast<StructureCheck*>(context);
    StructureSolver solver(check.settings.mode);
    solver.set_materials(check.materials);
    solver.set_blocks(check.blocks);
    check.report = solver.solve(check.settings);
}

/// The group's axis nearest to the world's up; nullopt when it leans by more than the limit.
std::optional<Axis> up_axis(const LevelState& level, const Group& group) {
    const Vec3 up = group.body.direction_to_local({0, 1, 0});
    const float cosine =
        float(sin_cos(double(level.settings.structure_max_tilt) * 3.14159265358979 / 180).cos);
    constexpr Axis kPositive[] = {Axis::pos_x, Axis::pos_y, Axis::pos_z};
    constexpr Axis kNegative[] = {Axis::neg_x, Axis::neg_y, Axis::neg_z};
    for (int k = 0; k < 3; k++) {
        if (up[k] >= cosine) return kPositive[k];
        if (-up[k] >= cosine) return kNegative[k];
    }
    return std::nullopt;
}

Cell axis_step(Axis axis) {
    switch (axis) {
        case Axis::pos_x:
            return {1, 0, 0};
        case Axis::neg_x:
            return {-1, 0, 0};
        case Axis::pos_y:
            return {0, 1, 0};
        case Axis::neg_y:
            return {0, -1, 0};
        case Axis::pos_z:
            return {0, 0, 1};
        default:
            return {0, 0, -1};
    }
}

bool point_in_solid(const Grid& grid, double cell_size, DVec3 point) {
    const DVec3 p = point / cell_size;
    const Cell cell{int(std::floor(p.x)), int(std::floor(p.y)), int(std::floor(p.z))};
    if (!grid.is_solid(cell)) return false;
    const Vec3 inside = to_float(p - DVec3{double(cell.x), double(cell.y), double(cell.z)});
    for (const Box& b : grid.type_at(cell).shape.boxes())
        if (inside.x >= b.min.x && inside.x <= b.max.x && inside.y >= b.min.y && inside.y <= b.max.y &&
            inside.z >= b.min.z && inside.z <= b.max.z)
            return true;
    return false;
}

/// Another group that may carry, with what the test of many points needs of it.
struct Carrier {
    DBox bounds;
    const Grid* grid;
    Pose pose;
};

/// Is there something to stand on at a point of the world, other than the group itself?
bool carries_at(const LevelState& level, std::span<const Carrier> carriers, DVec3 point) {
    const LevelSettings& s = level.settings;
    if (s.ground && point.y <= *s.ground) return true;
    if (point_in_solid(level.terrain(), s.cell_size, point)) return true;
    for (const Carrier& c : carriers)
        if (c.bounds.contains(point) &&
            point_in_solid(*c.grid, s.cell_size, to_double(to_local(c.pose, point))))
            return true;
    return false;
}

void start_check(LevelState& level, Group& group) {
    group.check_wanted = false;
    const LevelSettings& s = level.settings;
    if (!s.collapse || group.grid.solid_count() > std::size_t(s.structure_max_solids)) return;
    const auto up = up_axis(level, group);
    if (!up) return;
    auto check = std::make_unique<StructureCheck>();
    check->settings = s.structure;
    check->settings.up = *up;
    check->settings.cell_size = double(s.cell_size);
    check->grid_version = group.grid.version();
    check->due_tick = level.tick + 1 + group.grid.solid_count() / kSolidsPerTick;

    DBox bounds = group.body.bounds();
    bounds.min.y -= double(s.cell_size);
    std::vector<Carrier> carriers;
    for (const Body& body : level.space.bodies_in(bounds)) {
        const Group* other = level.owner_of(body);
        if (other && other != &group) carriers.push_back({body.bounds(), &other->grid, body.pose()});
    }
    struct Context {
        const LevelState& level;
        const Grid& grid;
        std::span<const Carrier> carriers;
        Pose pose;
        Cell up;
    } context{level, group.grid, carriers, group.body.pose(), axis_step(*up)};
    check->blocks = structure_blocks(
        group.grid, s.cell_size,
        [](void* raw, Cell cell) {
            const auto& c = *static_cast<Context*>(raw);
            if (c.grid.is_solid(cell - c.up)) return false;
            const float e = c.level.settings.cell_size;
            // A quarter block below the middle of the bottom face.
            const Vec3 center{(float(cell.x) + 0.5f) * e, (float(cell.y) + 0.5f) * e,
                              (float(cell.z) + 0.5f) * e};
            const Vec3 up{float(c.up.x), float(c.up.y), float(c.up.z)};
            DVec3 point = to_world(c.pose, center - up * (0.5f * e));
            point.y -= 0.25 * double(e);
            return carries_at(c.level, c.carriers, point);
        },
        &context, s.strength_factor, &check->materials);
    group.check = std::move(check);
    group.check->jobs = s.jobs;
    group.check->run();
}

/// @return false when the group is gone
bool apply_check(LevelState& level, Group& group) {
    const std::unique_ptr<StructureCheck> check = std::move(group.check);
    check->finish();
    if (check->grid_version != group.grid.version()) {  // answered for a grid that is no more
        group.check_wanted = true;
        return true;
    }
    StructureReport& report = check->report;
    if (report.verdict != Verdict::falls) return true;
    level.events.push_back({.kind = LevelEvent::Kind::bonds_broken,
                            .group = group.id,
                            .point = group.body.center_of_mass(),
                            .value = float(report.broken_bonds.size())});
    std::vector<std::vector<Cell>> parts = std::move(report.parts);
    const bool whole_falls = [&] {
        std::size_t n = 0;
        for (const auto& part : parts) n += part.size();
        return n == group.grid.solid_count();
    }();
    if (whole_falls) {  // the largest part keeps the group and its body, which falls
        parts.erase(parts.begin());
        group.body.activate();
    }
    if (parts.empty()) return true;

    // What hangs on a falling solid goes with it.
    if (group.grid.solid_count() != group.grid.block_count()) {
        std::map<Cell, std::size_t> part_of;
        for (std::size_t i = 0; i < parts.size(); i++)
            for (Cell c : parts[i]) part_of.emplace(c, i);
        group.grid.for_each([&](Cell cell, BlockId id) {
            if (level.table.flags(id).solid) return;
            const auto solid = nearest_solid(group.grid, cell);
            if (!solid) return;
            const auto it = part_of.find(*solid);
            if (it != part_of.end()) parts[it->second].push_back(cell);
        });
    }
    // The solver knows face bonds only; a part it names may be several over the joins of §5 and the other way
    // round. Its parts are taken as they are: what it separates falls apart.
    split_off(level, group, parts, true);
    // The rest is not weighed again, but it may have been held together by what fell.
    group.whole_look = true;
    group.broke_off = true;
    if (!split_loose_parts(level, group)) return false;
    group.check_wanted = false;
    return true;
}

}  // namespace

void StructureCheck::run() {
    if (jobs) {
        job = jobs->start(run_check, this);
        running = true;
    } else {
        run_check(this, 0);
    }
}

void StructureCheck::finish() {
    if (running) jobs->wait(job);
    running = false;
}

bool structural_check(LevelState& level, Group& group) {
    if (group.check && level.tick >= group.check->due_tick && !apply_check(level, group)) return false;
    if (group.check_wanted && !group.check) start_check(level, group);
    return true;
}

}  // namespace talus
