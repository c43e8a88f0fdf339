#include "talus/level_encoder.h"

#include <bit>

namespace talus {

namespace {

constexpr double kFarFromZero = 1000;  // metres: nearer, floats about the world's zero are fine enough

std::uint64_t key_of(GroupId id) { return std::uint64_t(id.index) << 32 | id.generation; }

bool same_bits(const Pose& a, const Pose& b) {
    auto same = [](auto x, auto y) {
        if constexpr (sizeof x == 8)
            return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        else
            return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    };
    return same(a.position.x, b.position.x) && same(a.position.y, b.position.y) &&
           same(a.position.z, b.position.z) && same(a.rotation.x, b.rotation.x) &&
           same(a.rotation.y, b.rotation.y) && same(a.rotation.z, b.rotation.z) &&
           same(a.rotation.w, b.rotation.w);
}

FrameStats stats_of(const Level& level, float tick_ms) {
    const LevelStats s = level.stats();
    return {s.blocks, std::uint32_t(s.groups), std::uint32_t(s.awake), tick_ms};
}

/// Last edit of each cell, in the order of cells.
void keep_last(FrameEdits& edits) {
    std::map<Cell, BlockId> last;
    for (const BlockEdit& e : edits.edits) last[e.cell] = e.block;
    edits.edits.clear();
    for (const auto& [cell, block] : last) edits.edits.push_back({cell, block});
}

/// Every blast, and of the rest as many as fit, spread evenly.
std::vector<FrameEffect> effects_of(const Level& level) {
    std::vector<FrameEffect> blasts, others;
    for (const LevelEvent& e : level.events()) {
        FrameEffect effect{FrameEffect::Kind::dust, e.point, e.value, 0};
        if (e.kind == LevelEvent::Kind::blast)
            effect.kind = FrameEffect::Kind::blast;
        else if (e.kind == LevelEvent::Kind::impact)
            effect.kind = FrameEffect::Kind::impact;
        else if (e.kind == LevelEvent::Kind::bonds_broken)
            effect.kind = FrameEffect::Kind::broken;
        else if (e.kind == LevelEvent::Kind::block_destroyed) {
            effect.color = level.table()[e.block].material.color & 0xffffff;
            effect.value = 1;
        } else
            continue;
        if (!is_finite(e.point) || !std::isfinite(effect.value)) continue;
        (effect.kind == FrameEffect::Kind::blast ? blasts : others).push_back(effect);
    }
    if (blasts.size() > kMaxFrameEffects / 2) blasts.resize(kMaxFrameEffects / 2);
    const std::size_t room = kMaxFrameEffects - blasts.size();
    const std::size_t step = (others.size() + room - 1) / room;
    for (std::size_t i = 0; i < others.size(); i += step) blasts.push_back(others[i]);
    return blasts;
}

}  // namespace

void LevelEncoder::forget() {
    known_.clear();
    by_group_.clear();
    told_blocks_ = 1;
}

std::optional<GroupId> LevelEncoder::find(WireId id) const {
    const auto it = known_.find(id);
    return it == known_.end() ? std::nullopt : std::optional(it->second.group);
}

FrameGroup LevelEncoder::describe(const Level& level, const GroupView& view, WireId id, bool is_new) const {
    FrameGroup group;
    group.id = id;
    group.grid = view.grid;
    group.pose = group.birth = view.pose;
    group.pivot = view.body.local_center_of_mass();
    if (is_new && !view.asleep) {
        // Where it was a tick ago, from its motion: right but for a tick's share of gravity and knocks.
        const float dt = 1.0f / float(level.settings().ticks_per_second);
        const DVec3 center = to_world(view.pose, group.pivot) - to_double(view.body.velocity() * dt);
        const Vec3 spin = view.body.spin();
        if (!(spin == Vec3{}))
            group.birth.rotation = normalized(axis_angle(spin, -length(spin) * dt) * view.pose.rotation);
        group.birth.position = center - to_double(rotate(group.birth.rotation, group.pivot));
    }
    return group;
}

std::vector<std::uint8_t> LevelEncoder::tick_message(const Level& level, float tick_ms) {
    Frame frame;
    frame.tick = level.stats().tick;
    frame.first_block = told_blocks_;
    for (; told_blocks_ < level.table().size(); told_blocks_++)
        frame.blocks.push_back(level.table()[BlockId(told_blocks_)]);

    // Groups that are there now, against those told. Events say which cells to look at, not more: a group may
    // have come and gone, and what counts is how the tick ended.
    std::map<WireId, FrameEdits> edits;
    for (const LevelEvent& e : level.events()) {
        if (e.kind == LevelEvent::Kind::terrain_block)
            edits[kTerrainId].edits.push_back({e.cell, level.terrain().get(e.cell)});
        if (e.kind == LevelEvent::Kind::group_block) {
            const auto it = by_group_.find(key_of(e.group));
            const auto view = it == by_group_.end() ? std::nullopt : level.group(e.group);
            if (view) edits[it->second].edits.push_back({e.cell, view->grid->get(e.cell)});
        }
    }
    for (auto& [id, k] : known_) k.in_step = false;
    for (const GroupId group : level.groups()) {
        const std::optional<GroupView> view = level.group(group);
        if (!view) continue;
        const auto it = by_group_.find(key_of(group));
        if (it == by_group_.end()) {
            const WireId id = next_id_++;
            frame.groups.push_back(describe(level, *view, id, true));
            known_[id] = {group, view->pose, true};
            by_group_[key_of(group)] = id;
            continue;
        }
        Known& k = known_[it->second];
        k.in_step = true;
        if (!same_bits(k.sent, view->pose)) frame.poses.push_back({it->second, view->pose});
        k.sent = view->pose;
    }
    for (auto it = known_.begin(); it != known_.end();) {
        if (it->second.in_step) {
            ++it;
            continue;
        }
        frame.removed.push_back(it->first);
        edits.erase(it->first);
        by_group_.erase(key_of(it->second.group));
        it = known_.erase(it);
    }
    for (auto& [id, e] : edits) {
        e.group = id;
        keep_last(e);
        frame.edits.push_back(std::move(e));
    }
    frame.effects = effects_of(level);
    frame.stats = stats_of(level, tick_ms);
    return encode_frame(frame);
}

std::vector<std::uint8_t> LevelEncoder::full_state(const Level& level, float tick_ms) {
    Frame frame;
    frame.tick = level.stats().tick;
    frame.first_block = 1;
    for (std::size_t i = 1; i < level.table().size(); i++) frame.blocks.push_back(level.table()[BlockId(i)]);
    for (const auto& [id, k] : known_) {
        const std::optional<GroupView> view = level.group(k.group);
        if (view) frame.groups.push_back(describe(level, *view, id, false));
    }
    frame.stats = stats_of(level, tick_ms);

    Welcome welcome;
    welcome.cell_size = level.settings().cell_size;
    welcome.ticks_per_second = float(level.settings().ticks_per_second);
    welcome.ground = level.settings().ground;
    welcome.terrain = &level.terrain();
    welcome.menu = menu;
    // Floats are fine near the zero of the world; a world far away is shown about its own middle.
    if (!level.terrain().empty()) {
        const CellBox box = level.terrain().bounds();
        const double size = welcome.cell_size;
        const DVec3 middle{size * (double(box.min.x) + double(box.max.x)) / 2, size * double(box.min.y),
                           size * (double(box.min.z) + double(box.max.z)) / 2};
        if (length(middle) > kFarFromZero) welcome.origin = middle;
    } else if (!frame.groups.empty() && length(frame.groups[0].pose.position) > kFarFromZero) {
        welcome.origin = to_world(frame.groups[0].pose, frame.groups[0].pivot);
    }
    return encode_frame(frame, &welcome);
}

}  // namespace talus
