// smooth.cpp - smooth ground of a level: who has it, what digs it, what it carries.
#include "dynamics/state.h"
#include "world/level_state.h"

namespace talus {

namespace {

constexpr float kLook = 8;       // m: how far a blast's ray looks ahead for smooth ground
constexpr double kTrust = 0.5;   // of a field's distance: gradients are not exact
constexpr float kBeside = 0.5f;  // cells: what is nearer is touched

void warn_too_large(const LevelState& level, const DBox& tool) {
    if (level.smooth->field.fits(tool) || !is_finite(tool.min) || !is_finite(tool.max)) return;
    if (level.settings.log)
        level.settings.log->log(LogLevel::warning,
                                "a tool is too large for smooth ground: nothing is changed");
}

DBox box_of(DVec3 center, float radius) {
    const DVec3 r{double(radius), double(radius), double(radius)};
    return {center - r, center + r};
}

}  // namespace

const SmoothGround* smooth_ground(const LevelState& level) {
    if (level.smooth) return &level.smooth->field;
    return level.host_terrain && level.host_smooth ? &level.host_terrain->source() : nullptr;
}

void choose_smooth_ground(LevelState& level) {
    const SmoothGround* ground = smooth_ground(level);
    const float friction =
        level.smooth ? level.table[level.smooth->block].material.friction : Material{}.friction;
    if (ground || level.space.state().world.smooth) level.space.set_smooth_ground(ground, friction);
}

bool in_smooth_ground(const LevelState& level, DVec3 point) {
    const SmoothGround* ground = smooth_ground(level);
    const auto near = ground ? ground->surface_near(point, 0) : std::nullopt;
    return near && near->distance <= 0;
}

BlockId smooth_block_near(const LevelState& level, DVec3 point) {
    if (!level.smooth) return kAir;
    return level.smooth->field.surface_near(point, kBeside * level.settings.cell_size) ? level.smooth->block
                                                                                       : kAir;
}

CellBox dig_smooth(LevelState& level, const DBox& bounds, const std::function<double(DVec3)>& inside) {
    if (!level.smooth) return {};
    warn_too_large(level, bounds);
    return tell_smooth_change(level, level.smooth->field.edit(bounds, false, [&](DVec3 p) {
        return is_protected(level, p) ? -1e30 : inside(p);
    }));
}

double depth_in_box(const DBox& box, DVec3 p) {
    const DVec3 middle = (box.min + box.max) * 0.5, half = (box.max - box.min) * 0.5;
    DVec3 out;  // beyond each face
    double least = half.x;
    for (int k = 0; k < 3; k++) {
        const double in = half[k] - std::fabs(p[k] - middle[k]);
        least = in < least ? in : least;
        out[k] = in < 0 ? -in : 0;
    }
    return least < 0 ? -length(out) : least;
}

void dig_crater(LevelState& level, DVec3 center, double power, double air_loss, double step) {
    if (!level.smooth) return;
    const auto cost = SmoothLoss(level).cost(step);
    const auto near = level.smooth->field.surface_near(center, float(power / air_loss * step));
    if (!cost || !near) return;
    const double height = near->distance > 0 ? double(near->distance) : 0;
    const double left = power - height / step * air_loss;
    if (!(left > 0)) return;
    const double radius = height + left / (air_loss + *cost) * step;
    dig_smooth(level, box_of(center, float(radius)), [&](DVec3 p) { return radius - length(p - center); });
}

CellBox tell_smooth_change(LevelState& level, const CellBox& cells) {
    if (cells.empty()) return cells;
    level.space.terrain_changed(cells);
    check_structures_in(level, {cells.min, cells.max + Cell{0, 1, 0}});
    level.events.push_back({.kind = LevelEvent::Kind::smooth_terrain, .cell = cells.min, .last = cells.max});
    return cells;
}

SmoothLoss::SmoothLoss(const LevelState& level) : ground_(smooth_ground(level)) {
    // A host's ground is of nobody knows what: earth.
    const Material& material =
        level.smooth ? level.table[level.smooth->block].material : *find_real_material("earth");
    resistance_ = material.blast_resistance;
    breaks_ = material.hardness >= 0;
}

std::optional<double> SmoothLoss::cost(double step) const {
    if (!breaks_) return std::nullopt;
    return (double(resistance_) + 0.3) * step;
}

double SmoothLoss::pass(double energy, DVec3 p, double way, double step) {
    if (!ground_ || way < clear_until_) return energy;
    const auto near = ground_->surface_near(p, kLook);
    const double distance = near ? double(near->distance) : double(kLook);
    if (distance > 0) {
        clear_until_ = way + kTrust * distance;
        return energy;
    }
    const auto lost = cost(step);
    return lost ? energy - *lost : 0;
}

bool SmoothLoss::hides(double power, DVec3 from, DVec3 to, double air_loss, double step) {
    const double distance = length(to - from);
    if (!ground_ || !(distance > 0)) return false;
    const DVec3 direction = (to - from) / distance;
    next_ray();
    for (double t = 0; t < distance && power > 0; t += step, power -= air_loss)
        power = pass(power, from + direction * t, t, step);
    return !(power > 0);
}

void Level::set_smooth_terrain(const DensitySource* samples, BlockId block) {
    const Recorded call(log_of(*state_), Call::set_smooth_terrain, samples != nullptr, block);
    LevelState& level = *state_;
    if (block == kAir) samples = nullptr;
    samples = taped_samples(level, samples);
    level.smooth = block == kAir ? nullptr
                                 : std::make_unique<SmoothTerrain>(
                                       SmoothTerrain{DensityField(samples, level.settings.cell_size), block});
    choose_smooth_ground(level);
}

const DensityField* Level::smooth_terrain() const {
    return state_->smooth ? &state_->smooth->field : nullptr;
}
BlockId Level::smooth_block() const { return state_->smooth ? state_->smooth->block : kAir; }

CellBox Level::dig(DVec3 center, float radius) {
    const Recorded call(log_of(*state_), Call::dig, center, radius);
    if (!state_->smooth) return {};
    warn_too_large(*state_, box_of(center, radius));
    return tell_smooth_change(*state_, state_->smooth->field.dig(center, radius));
}

CellBox Level::fill(DVec3 center, float radius) {
    const Recorded call(log_of(*state_), Call::fill, center, radius);
    if (!state_->smooth) return {};
    warn_too_large(*state_, box_of(center, radius));
    return tell_smooth_change(*state_, state_->smooth->field.fill(center, radius));
}

void Level::smooth_terrain_changed(const CellBox& samples) {
    const Recorded call(log_of(*state_), Call::smooth_changed, samples);
    if (!state_->smooth || samples.empty()) return;
    forget_taped_samples(*state_, samples);
    state_->smooth->field.changed(samples);
    tell_smooth_change(*state_, {samples.min - Cell{1, 1, 1}, samples.max});
}

void Level::set_terrain_source(TerrainSource* source) {
    const bool smooth = source && source->has_smooth_ground();
    const Recorded call(log_of(*state_), Call::set_terrain_source, source != nullptr, smooth);
    LevelState& level = *state_;
    source = taped_terrain(level, source);
    if (level.host_terrain) level.host_terrain->let_go(level.space);
    level.host_terrain =
        source ? std::make_unique<RegionCache>(*source, level.table, level.settings.cell_size) : nullptr;
    level.host_smooth = smooth;
    level.space.set_terrain(&level.terrain(), !level.host_terrain);
    choose_smooth_ground(level);
}

}  // namespace talus
