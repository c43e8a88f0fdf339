#include "net/decode.h"

#include "net/aligned.h"
#include "protocol_generated.h"

#include <cmath>

namespace talus {

namespace {

Error malformed(std::string what, ErrorCode code = ErrorCode::corrupt) {
    return {code, "message of the server: " + std::move(what)};
}

bool in_range(DVec3 p) {
    for (int k = 0; k < 3; k++)
        if (!(std::fabs(p[k]) <= kMaxPosition)) return false;
    return true;
}
bool in_range(Cell c, std::int32_t limit = kMaxCell) {
    for (const std::int32_t v : {c.x, c.y, c.z})
        if (v < -limit || v > limit) return false;
    return true;
}
Cell cell_of(const wire::Int3& c) { return {c.x(), c.y(), c.z()}; }
DVec3 point_of(const wire::Double3& p) { return {p.x(), p.y(), p.z()}; }

/// FlatBuffers verifies the alignment of a list's length, not of wider things in it.
template <class T>
bool is_aligned(const flatbuffers::Vector<const T*>& list) {
    return list.size() == 0 || reinterpret_cast<std::uintptr_t>(list.Data()) % alignof(T) == 0;
}

bool read_pose(const wire::PoseRecord& record, Pose& pose) {
    pose.position = point_of(record.position());
    pose.rotation = {record.qx(), record.qy(), record.qz(), record.qw()};
    const Quat& q = pose.rotation;
    const float n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!in_range(pose.position) || !(n > 0.8f && n < 1.2f)) return false;
    return true;
}

/// Reads one message; `error` is set once and ends the work.
class Reader {
 public:
    explicit Reader(DecodeState& state) : state_(state) {}

    Result<ServerMessage> read(std::span<const std::uint8_t> given) {
        if (given.size() > kMaxServerMessage) return malformed("too long", ErrorCode::too_large);
        const AlignedBytes aligned(given);
        const std::span<const std::uint8_t> bytes = aligned.bytes();
        // The smallest table takes over 8 bytes, so this bound only stops tables that share bytes.
        const auto max_tables = flatbuffers::uoffset_t(64 + bytes.size() / 8);
        flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, max_tables);
        if (!verifier.VerifyBuffer<wire::ServerMessage>(nullptr)) return malformed("not what it should be");
        const auto* message = flatbuffers::GetRoot<wire::ServerMessage>(bytes.data());
        if (message->version() != kProtocolVersion)
            return malformed("protocol version " + std::to_string(message->version()) +
                                 ", this page speaks " + std::to_string(kProtocolVersion) +
                                 "; reload the page",
                             ErrorCode::unsupported);
        ServerMessage out;
        if (const auto* notice = message->notice())
            out.notice = {notice->error(), notice->text() ? notice->text()->str() : std::string()};
        const auto* frame = message->frame();
        if (message->welcome()) {
            if (!frame) return malformed("a welcome without a frame");
            begin(*message->welcome(), out.welcome.emplace());
        }
        if (frame) {
            if (!state_.welcomed) return malformed("a frame before the welcome");
            if (!out.welcome && frame->tick() != state_.tick + 1)
                return malformed("tick " + std::to_string(frame->tick()) + " after " +
                                 std::to_string(state_.tick));
            state_.tick = frame->tick();
            read_frame(*frame, out.frame.emplace());
            // The terrain names blocks of the frame's table.
            if (out.welcome && message->welcome()->terrain() && error_.empty())
                read_blocks(*message->welcome()->terrain(), *out.welcome->own_terrain);
        }
        if (!error_.empty()) return malformed(std::move(error_));
        return out;
    }

 private:
    void begin(const wire::Welcome& from, Welcome& to) {
        state_ = {};
        state_.welcomed = true;
        state_.table = std::make_shared<BlockTable>();
        state_.ids.assign(1, kAir);
        to.cell_size = from.cell_size();
        to.ticks_per_second = from.ticks_per_second();
        if (!(to.cell_size >= 0.01f && to.cell_size <= 100)) fail("cell size");
        if (!(to.ticks_per_second >= 1 && to.ticks_per_second <= 1000)) fail("tick rate");
        if (from.has_ground()) to.ground = from.ground();
        if (to.ground && !(std::fabs(*to.ground) <= kMaxPosition)) fail("height of the ground");
        if (from.origin()) to.origin = point_of(*from.origin());
        if (!in_range(to.origin)) fail("origin");
        to.own_terrain = std::make_unique<Grid>(*state_.table);
        read_menu(from, to.menu);
    }

    void read_menu(const wire::Welcome& from, SceneMenu& to) {
        if (!from.scenes()) return;
        if (from.scenes()->size() > kMaxScenes) return fail("number of scenes");
        for (const auto* scene : *from.scenes()) {
            SceneMenu::Entry& entry = to.entries.emplace_back();
            if (scene->title()) entry.title = scene->title()->str();
            if (scene->action()) entry.action = scene->action()->str();
            if (entry.title.size() > kMaxSceneText || entry.action.size() > kMaxSceneText)
                return fail("words of a scene");
        }
        to.current = from.scene();
        if (!to.entries.empty() && to.current >= to.entries.size()) fail("number of the scene");
    }

    void fail(std::string what) {
        if (error_.empty()) error_ = std::move(what);
    }

    bool knows(std::uint32_t server_id) const { return server_id < state_.ids.size(); }

    void read_block_types(const wire::Frame& from) {
        if (!from.blocks()) return;
        std::size_t id = from.first_block();
        if (id == 0 || id > state_.ids.size()) return fail("a gap in the block table");
        for (const wire::BlockInfo* info : *from.blocks()) {
            if (id++ < state_.ids.size()) continue;  // told before
            if (id > std::size_t(kMaxBlockTypes) + 1) return fail("too many block types");
            BlockType type;
            if (info->name()) type.name = info->name()->str();
            type.material.name = type.name;
            type.material.color = info->color() & 0xffffff;
            type.material.solid = info->solid();
            type.material.soft = info->soft();
            if (!info->full()) {
                std::vector<Box> boxes;
                const auto* list = info->boxes();
                const std::size_t count = list ? list->size() : 0;
                if (count % 6 != 0 || count > 6 * kMaxShapeBoxes) return fail("boxes of a block");
                for (flatbuffers::uoffset_t i = 0; i < count; i += 6) {
                    float v[6];
                    for (flatbuffers::uoffset_t k = 0; k < 6; k++) {
                        v[k] = list->Get(i + k);
                        if (!(v[k] >= 0 && v[k] <= 1)) return fail("boxes of a block");
                    }
                    boxes.push_back({{v[0], v[1], v[2]}, {v[3], v[4], v[5]}});
                }
                type.shape = BlockShape(boxes);
            }
            state_.ids.push_back(state_.table->add(type));
        }
    }

    void read_blocks(const wire::Blocks& from, Grid& grid) {
        const auto* bricks = from.bricks();
        const auto* ids = from.ids();
        const auto* lengths = from.lengths();
        if (!bricks || bricks->size() == 0) return;
        if (!ids || !lengths || ids->size() != lengths->size()) return fail("runs of a brick");
        state_.bricks += bricks->size();
        if (state_.bricks > kMaxBricks) return fail("too many blocks");
        std::size_t run = 0;
        for (const wire::BrickHead* head : *bricks) {
            const Cell coord = cell_of(head->coord());
            if (!in_range(coord, kMaxCell / kBrickEdge)) return fail("a brick outside of the world");
            Brick place;
            place.coord = coord;
            int i = 0;
            for (std::uint32_t k = 0; k < head->runs(); k++, run++) {
                if (run >= ids->size()) return fail("runs of a brick");
                const auto at = flatbuffers::uoffset_t(run);
                const int length = lengths->Get(at);
                const std::uint16_t id = ids->Get(at);
                if (length < 1 || length > 512 - i || !knows(id)) return fail("runs of a brick");
                const BlockId block = state_.ids[id];
                for (const int end = i + length; i < end; i++)
                    if (block != kAir) grid.set(cell_in_brick(place, i), block);
            }
            if (i != 512) return fail("runs of a brick");
        }
        if (run != ids->size()) return fail("runs of a brick");
    }

    void read_groups(const wire::Frame& from, Frame& to) {
        if (from.removed())
            for (const WireId id : *from.removed()) {
                const auto it = state_.groups.find(id);
                if (it == state_.groups.end()) return fail("removes a group that is not there");
                state_.bricks -= it->second;
                state_.groups.erase(it);
                to.removed.push_back(id);
            }
        if (!from.groups()) return;
        for (const wire::Group* g : *from.groups()) {
            FrameGroup& group = to.groups.emplace_back();
            group.id = g->id();
            if (group.id == kTerrainId || !state_.groups.emplace(group.id, 0).second)
                return fail("adds a group that is there");
            if (!g->pose() || !read_pose(*g->pose(), group.pose)) return fail("pose of a group");
            group.birth = group.pose;
            if (g->birth() && !read_pose(*g->birth(), group.birth)) return fail("pose of a group");
            if (g->pivot()) group.pivot = {g->pivot()->x(), g->pivot()->y(), g->pivot()->z()};
            if (!is_finite(group.pivot) || !in_range(to_double(group.pivot))) return fail("pivot of a group");
            group.own = std::make_unique<Grid>(*state_.table);
            const std::size_t before = state_.bricks;
            if (g->blocks()) read_blocks(*g->blocks(), *group.own);
            state_.groups[group.id] = state_.bricks - before;
            if (!error_.empty()) return;
        }
    }

    void read_edits(const wire::Frame& from, Frame& to) {
        if (!from.edits()) return;
        std::size_t placed = 0;  // each may make a brick
        for (const wire::Edits* e : *from.edits()) {
            const auto* cells = e->cells();
            const auto* blocks = e->blocks();
            if (!cells || !blocks || cells->size() != blocks->size()) return fail("edits");
            if (e->group() != kTerrainId && !state_.groups.contains(e->group()))
                return fail("edits a group that is not there");
            FrameEdits& edits = to.edits.emplace_back();
            edits.group = e->group();
            for (flatbuffers::uoffset_t i = 0; i < cells->size(); i++) {
                const Cell c = cell_of(*cells->Get(i));
                if (!in_range(c) || !knows(blocks->Get(i))) return fail("edits");
                if (blocks->Get(i) != kAir && ++placed > kMaxPlacements) return fail("too many edits");
                edits.edits.push_back({c, state_.ids[blocks->Get(i)]});
            }
        }
    }

    void read_frame(const wire::Frame& from, Frame& to) {
        to.tick = from.tick();
        read_block_types(from);
        if (error_.empty()) read_groups(from, to);
        if (error_.empty()) read_edits(from, to);
        if (!error_.empty()) return;
        if ((from.poses() && !is_aligned(*from.poses())) || (from.effects() && !is_aligned(*from.effects())))
            return fail("a list that is not aligned");
        if (from.poses())
            for (const wire::GroupPose* p : *from.poses()) {
                FramePose& pose = to.poses.emplace_back();
                pose.group = p->group();
                if (!state_.groups.contains(pose.group)) return fail("moves a group that is not there");
                if (!read_pose(p->pose(), pose.pose)) return fail("pose of a group");
            }
        if (from.effects()) {
            if (from.effects()->size() > kMaxFrameEffects) return fail("too many effects");
            for (const wire::Effect* e : *from.effects()) {
                FrameEffect& effect = to.effects.emplace_back();
                if (e->kind() > wire::EffectKind_MAX) return fail("effect");
                effect.kind = FrameEffect::Kind(e->kind());
                effect.point = point_of(e->point());
                effect.value = e->value();
                effect.color = e->color() & 0xffffff;
                if (!in_range(effect.point) || !std::isfinite(effect.value)) return fail("effect");
            }
        }
        if (const auto* s = from.stats()) {
            if (!std::isfinite(s->tick_ms())) return fail("stats");
            to.stats = {s->blocks(), s->groups(), s->awake(), s->tick_ms()};
        }
    }

    DecodeState& state_;
    std::string error_;
};

}  // namespace

Result<ServerMessage> decode_server_message(std::span<const std::uint8_t> bytes, DecodeState& state) {
    return Reader(state).read(bytes);
}

}  // namespace talus
