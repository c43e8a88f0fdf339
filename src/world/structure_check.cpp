#include "world/structure_check.h"

#include "dynamics/box_tree.h"
#include "world/level_state.h"

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

bool point_in_boxes(std::span<const Box> boxes, Vec3 p) {
    for (const Box& b : boxes)
        if (p.x >= b.min.x && p.x <= b.max.x && p.y >= b.min.y && p.y <= b.max.y && p.z >= b.min.z &&
            p.z <= b.max.z)
            return true;
    return false;
}

/// Is a point, given in cells, inside the shape of the block that read(cell) finds there?
template <class Read>
bool point_in_solid(const BlockTable& table, DVec3 p, Read&& read) {
    const Cell cell = to_cell(p);
    const std::optional<BlockId> block = read(cell);
    if (!block) return true;  // terrain that is not loaded holds what stands on it
    if (!table.flags(*block).solid) return false;
    const Vec3 inside = to_float(p - DVec3{double(cell.x), double(cell.y), double(cell.z)});
    return point_in_boxes(table[*block].shape.boxes(), inside);
}

/// A body that may carry, with what the test of many points needs of it.
struct Carrier {
    DBox bounds;
    Pose pose;
    const Grid* grid;  // null: a host's body, of these boxes
    std::vector<Box> boxes;
};

/// Found by place: under a large build that comes down lie thousands.
class Carriers {
 public:
    Carriers() = default;
    Carriers(std::vector<Carrier> all, DVec3 origin) : all_(std::move(all)), origin_(origin) {
        for (std::size_t i = 0; i < all_.size(); i++)
            tree_.put(std::int32_t(i), about_origin(all_[i].bounds.min, all_[i].bounds.max));
    }
    /// Does f(carrier) hold for one whose bounds hold the point?
    template <class F>
    bool any_at(DVec3 p, F&& f) const {
        bool found = false;
        const Bounds point = about_origin(p, p);
        tree_.each([&](const Bounds& box) { return !found && box.meets(point); },
                   [&](std::int32_t i) {
                       const Carrier& c = all_[std::size_t(i)];
                       found = found || (c.bounds.contains(p) && f(c));
                   });
        return found;
    }

 private:
    /// A little wider, for what floats round off.
    Bounds about_origin(DVec3 min, DVec3 max) const {
        Bounds box{to_float(min - origin_), to_float(max - origin_)};
        for (int k = 0; k < 3; k++) {
            box.lo[k] -= 1e-3f + 2.4e-7f * std::fabs(box.lo[k]);
            box.hi[k] += 1e-3f + 2.4e-7f * std::fabs(box.hi[k]);
        }
        return box;
    }
    std::vector<Carrier> all_;
    DVec3 origin_;
    BoxTree tree_;
};

/// What a build stands on, besides itself.
struct Underground {
    const LevelState& level;
    const Grid& grid;  // of the build
    Pose pose;
    Axis up;
    Carriers carriers;

    bool carries_at(DVec3 point) const {
        const LevelSettings& s = level.settings;
        const double e = s.cell_size;
        if (s.ground && point.y <= *s.ground) return true;
        if (in_smooth_ground(level, point)) return true;
        if (point_in_solid(level.table, point / e, [&](Cell c) { return read_terrain(level, c); }))
            return true;
        return carriers.any_at(point, [&](const Carrier& c) {
            const Vec3 local = to_local(c.pose, point);
            return c.grid ? point_in_solid(level.table, to_double(local) / e,
                                           [&](Cell cell) { return std::optional(c.grid->get(cell)); })
                          : point_in_boxes(c.boxes, local);
        });
    }

    /// No solid of the build under the block, and something to stand on a quarter block below its bottom
    /// face.
    /// A protected block stays where it is, and so does what stands on it.
    bool supports(Cell cell) const {
        const Cell step = axis_step(up);
        const double e = level.settings.cell_size;
        if (!level.protected_regions.empty()) {
            const DVec3 center{(cell.x + 0.5) * e, (cell.y + 0.5) * e, (cell.z + 0.5) * e};
            if (is_protected(level, pose == Pose{} ? center : to_world(pose, to_float(center)))) return true;
        }
        if (grid.is_solid(cell - step)) return false;
        const DVec3 middle{(cell.x + 0.5 - 0.5 * step.x) * e, (cell.y + 0.5 - 0.5 * step.y) * e,
                           (cell.z + 0.5 - 0.5 * step.z) * e};
        DVec3 point = to_world(pose, to_float(middle));
        if (pose == Pose{}) point = middle;  // terrain may be far from the world's zero
        point.y -= 0.25 * e;
        return carries_at(point);
    }
};

Carriers carriers_in(LevelState& level, DBox bounds, const Group& self) {
    bounds.min.y -= double(level.settings.cell_size);
    std::vector<Carrier> out;
    for (const Body& body : level.space.bodies_in(bounds)) {
        const Group* other = level.owner_of(body);
        if (other && other == &self) continue;
        Carrier c{body.bounds(), body.pose(), other ? &other->grid : nullptr, {}};
        if (!other)
            for (const ShapeBox& b : body.shape().boxes())
                if (b.collides) c.boxes.push_back(b.box);
        out.push_back(std::move(c));
    }
    return {std::move(out), bounds.min};
}

void start_check(LevelState& level, Build& build, const Underground& underground) {
    const LevelSettings& s = level.settings;
    auto check = std::make_unique<StructureCheck>();
    check->settings = s.structure;
    check->settings.mode = build.mode.value_or(s.structure.mode);
    check->settings.up = underground.up;
    check->settings.cell_size = double(s.cell_size);
    check->settings.gravity = double(length(s.gravity));
    check->grid_version = build.grid.version();
    check->due_tick = level.tick + 1 + build.grid.solid_count() / kSolidsPerTick;
    check->blocks = structure_blocks(
        build.grid, s.cell_size,
        [](void* raw, Cell cell) { return static_cast<const Underground*>(raw)->supports(cell); },
        const_cast<Underground*>(&underground), s.strength_factor, &check->materials);
    if (build.type())
        for (StructureBlock& b : check->blocks) b.strength = strength_at(level, build, b.cell);
    build.check = std::move(check);
    build.check->jobs = s.jobs;
    build.check->run();
}

bool may_be_judged(const LevelState& level, const Build& build) {
    return build.grid.solid_count() <= std::size_t(level.settings.structure_max_solids);
}

void start_check(LevelState& level, Group& group) {
    group.check_wanted = false;
    const auto up = up_axis(level, group);
    if (!up || !may_be_judged(level, group)) return;
    start_check(level, group,
                {level, group.grid, group.body.pose(), *up, carriers_in(level, group.body.bounds(), group)});
}

/// What may not break stays, and comes off in the next tick if nothing holds it.
void crumble_part(LevelState& level, Group& group, std::span<const Cell> part) {
    for (Cell cell : part) {
        if (may_break(level, group.grid.get(cell), block_center(level, group, cell), Cause::collapse))
            take_block(level, group, cell, Cause::collapse);
        else
            group.whole_look = true;
    }
}

/// @return false when the group is gone
bool apply_check(LevelState& level, Group& group) {
    const std::unique_ptr<StructureCheck> check = std::move(group.check);
    check->finish();
    take_work(level, group, check->report.falling());
    if (!level.settings.collapse || check->grid_version != group.grid.version()) {
        group.check_wanted = true;  // the answer is for a grid that is no more
        return true;
    }
    StructureReport& report = check->report;
    if (report.verdict != Verdict::falls) return true;
    const GroupId id = group.id;
    report_bonds(level, group, report.broken_bonds);
    if (level.find(id) != &group) return false;
    std::vector<std::vector<Cell>> parts = std::move(report.parts);
    keep_known(group, check->grid_version, parts);
    if (parts.empty()) return keep_solids(level, group);
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
    hang_non_solids(group.grid, parts);  // what hangs on a falling solid goes with it
    CollapseRoom room(level.settings);
    for (const auto& part : beyond_caps(room, parts))
        if (level.settings.beyond_cap == BeyondCap::crumble) crumble_part(level, group, part);
    // The solver knows face bonds only; a part it names may be several over the joins of §5 and the other way
    // round. Its parts are taken as they are: what it separates falls apart.
    split_off(level, group, parts, true);
    // The rest is not weighed again, but it may have been held together by what fell. What is beyond the caps
    // cannot stay where it is without a hold.
    parts = find_loose_parts(group.grid, group.joins);
    group.whole_look = false;
    for (const auto& part : beyond_caps(room, parts)) crumble_part(level, group, part);
    split_off(level, group, parts, true);
    drop(group.removed_solids);
    group.broke_off = group.whole_look;
    if (group.came_off && !group.is_debris)
        group.is_debris = int(group.grid.block_count()) <= level.settings.debris_max_blocks;
    group.check_wanted = false;
    return keep_solids(level, group);
}

}  // namespace

// Terrain stands on terrain and on the ground: bodies may leave without its being told.
void start_check(LevelState& level, Structure& structure) {
    structure.check_wanted = false;
    if (!may_be_judged(level, structure)) return;
    start_check(level, structure, {level, structure.grid, {}, Axis::pos_y, {}});
}

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
    if (group.check && level.tick >= group.check->due_tick && take_work(level, group, 0) &&
        !apply_check(level, group))
        return false;
    if (group.check_wanted && !group.check && level.settings.collapse &&
        take_work(level, group, group.grid.solid_count()))
        start_check(level, group);
    return true;
}

}  // namespace talus
