// talus_wasm.cpp - the core as a WebAssembly module: one ClientWorld. No logic.
//
// Numbers cross as arguments or through numbers(), bytes through buffer(n) inwards and out_bytes() /
// out_size() outwards, meshes and effects as arrays of the records below. Pointers hold until the next call.
// The other side is client/src/core.ts; tests: tests/wasm/

#include "talus/client_world.h"

#include <cstddef>
#include <cstring>

#define TALUS_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace {

using talus::ClientWorld;

struct ChangeRecord {
    double origin[3];
    std::uint32_t id, has_mesh;
    const float *positions, *normals;
    const std::uint8_t* colors;
    const std::uint32_t* indices;
    std::uint32_t vertex_count, index_count;
};
static_assert(sizeof(ChangeRecord) == 56 && offsetof(ChangeRecord, id) == 24, "core.ts reads this layout");

struct EffectRecord {
    double point[3];
    float value;
    std::uint32_t color, kind, pad;
};
static_assert(sizeof(EffectRecord) == 40, "core.ts reads this layout");

struct Module {
    ClientWorld world;
    double numbers[32] = {};
    std::vector<std::uint8_t> in, out;
    std::vector<ClientWorld::MeshChange> changes;
    std::vector<ChangeRecord> change_records;
    std::vector<EffectRecord> effects;
    std::vector<ClientWorld::Notice> notices;
};

Module& module() {
    static Module m;
    return m;
}

void put_text(std::string_view text) { module().out.assign(text.begin(), text.end()); }

std::uint32_t give(std::vector<ClientWorld::MeshChange> changes) {
    Module& m = module();
    m.changes = std::move(changes);
    m.change_records.clear();
    for (const ClientWorld::MeshChange& c : m.changes) {
        ChangeRecord r{{c.origin.x, c.origin.y, c.origin.z},
                       c.id,
                       c.mesh.has_value(),
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       0,
                       0};
        if (c.mesh) {
            r.positions = c.mesh->positions.data();
            r.normals = c.mesh->normals.data();
            r.colors = c.mesh->colors.data();
            r.indices = c.mesh->indices.data();
            r.vertex_count = std::uint32_t(c.mesh->vertex_count());
            r.index_count = std::uint32_t(c.mesh->indices.size());
        }
        m.change_records.push_back(r);
    }
    return std::uint32_t(m.change_records.size());
}

std::uint32_t give(const talus::ClientRequest& request) {
    module().out = talus::encode_request(request);
    return std::uint32_t(module().out.size());
}

talus::DVec3 vec_at(const double* n) { return {n[0], n[1], n[2]}; }
void put_vec(double* n, talus::DVec3 v) { n[0] = v.x, n[1] = v.y, n[2] = v.z; }

}  // namespace

/// 32 doubles: arguments and answers of the calls below.
TALUS_EXPORT(numbers) double* talus_numbers() { return module().numbers; }
TALUS_EXPORT(buffer) std::uint8_t* talus_buffer(std::uint32_t size) {
    module().in.resize(size);
    return module().in.data();
}
/// The buffer is no longer needed.
TALUS_EXPORT(drop_buffer) void talus_drop_buffer() { module().in = {}; }
TALUS_EXPORT(out_bytes) const std::uint8_t* talus_out_bytes() { return module().out.data(); }
TALUS_EXPORT(out_size) std::uint32_t talus_out_size() { return std::uint32_t(module().out.size()); }

TALUS_EXPORT(reset) void talus_reset() { module().world.reset(); }

/// The message is in the buffer. @return 1 when all is well; 0: out_bytes() says what is wrong
TALUS_EXPORT(receive) std::uint32_t talus_receive(double now) {
    const auto error = module().world.receive(module().in, now);
    if (error) put_text(error->message);
    return !error;
}

/// @return how many; then records()
TALUS_EXPORT(take_chunk_changes) std::uint32_t talus_take_chunk_changes() {
    return give(module().world.take_chunk_changes());
}
TALUS_EXPORT(take_group_changes) std::uint32_t talus_take_group_changes() {
    return give(module().world.take_group_changes());
}
TALUS_EXPORT(records) const ChangeRecord* talus_records() { return module().change_records.data(); }
/// The meshes are copied.
TALUS_EXPORT(drop_records) void talus_drop_records() {
    module().changes = {};
    module().change_records = {};
}

TALUS_EXPORT(take_effects) std::uint32_t talus_take_effects() {
    Module& m = module();
    m.effects.clear();
    for (const talus::FrameEffect& e : m.world.take_effects())
        m.effects.push_back({{e.point.x, e.point.y, e.point.z}, e.value, e.color, std::uint32_t(e.kind), 0});
    return std::uint32_t(m.effects.size());
}
TALUS_EXPORT(effects) const EffectRecord* talus_effects() { return module().effects.data(); }

TALUS_EXPORT(take_notices) std::uint32_t talus_take_notices() {
    module().notices = module().world.take_notices();
    return std::uint32_t(module().notices.size());
}
/// Text to out_bytes(). @return whether it is an error
TALUS_EXPORT(notice) std::uint32_t talus_notice(std::uint32_t i) {
    const ClientWorld::Notice& n = module().notices[i];
    put_text(n.text);
    return n.error;
}

/// @return groups shown
TALUS_EXPORT(poses) std::uint32_t talus_poses(double now) {
    module().world.advance(now);
    return std::uint32_t(module().world.group_ids().size());
}
TALUS_EXPORT(pose_ids) const std::uint32_t* talus_pose_ids() { return module().world.group_ids().data(); }
TALUS_EXPORT(pose_transforms) const float* talus_pose_transforms() {
    return module().world.transforms().data();
}

/// numbers: in origin 0-2, direction 3-5, reach 6; out kind 0, group 1, cell 2-4, point 5-7, normal 8-10,
/// distance 11.
TALUS_EXPORT(pick) void talus_pick() {
    double* n = module().numbers;
    const ClientWorld::Pick p = module().world.pick(vec_at(n), talus::to_float(vec_at(n + 3)), n[6]);
    n[0] = double(p.kind);
    n[1] = p.group;
    put_vec(n + 2, {double(p.cell.x), double(p.cell.y), double(p.cell.z)});
    put_vec(n + 5, p.point);
    put_vec(n + 8, talus::to_double(p.normal));
    n[11] = p.distance;
}

/// numbers: in and out position 0-2, velocity 3-5, flying 6, on ground 7; in wish 8-10, jump 11, dt 12,
/// now 13.
TALUS_EXPORT(move_player) void talus_move_player() {
    double* n = module().numbers;
    const ClientWorld::Player p = module().world.move_player({vec_at(n), vec_at(n + 3), n[6] != 0, n[7] != 0},
                                                             vec_at(n + 8), n[11] != 0, n[12], n[13]);
    put_vec(n, p.position);
    put_vec(n + 3, p.velocity);
    n[6] = p.flying;
    n[7] = p.on_ground;
}

/// numbers out: connected 0, tick 1, groups 2, awake 3, blocks 4, tick ms 5, has ground 6, ground 7, bounds
/// 8-13, shown tick 14, rate of the clock 15, groups that move 16, welcomes 17.
TALUS_EXPORT(stats) void talus_stats() {
    double* n = module().numbers;
    const ClientWorld::Stats s = module().world.stats();
    n[0] = s.connected;
    n[1] = double(s.tick);
    n[2] = s.frame.groups;
    n[3] = s.frame.awake;
    n[4] = double(s.frame.blocks);
    n[5] = double(s.frame.tick_ms);
    n[6] = s.ground.has_value();
    n[7] = s.ground.value_or(0);
    put_vec(n + 8, s.bounds.min);
    put_vec(n + 11, s.bounds.max);
    n[14] = s.shown_tick;
    n[15] = s.rate;
    n[16] = double(module().world.moving_count());
    n[17] = double(s.welcomes);
}

/// The menu of scenes. @return how many; numbers out: the current one 0
TALUS_EXPORT(scenes) std::uint32_t talus_scenes() {
    const talus::SceneMenu& menu = module().world.menu();
    module().numbers[0] = double(menu.current);
    return std::uint32_t(menu.entries.size());
}
/// Text to out_bytes().
TALUS_EXPORT(scene_title) void talus_scene_title(std::uint32_t i) {
    put_text(module().world.menu().entries[i].title);
}
TALUS_EXPORT(scene_action) void talus_scene_action(std::uint32_t i) {
    put_text(module().world.menu().entries[i].action);
}

/// Requests: @return size of out_bytes().
TALUS_EXPORT(encode_blast) std::uint32_t talus_encode_blast(double x, double y, double z, double power) {
    return give(talus::BlastRequest{talus::DVec3{x, y, z} + module().world.origin(), float(power)});
}
TALUS_EXPORT(encode_dig)
std::uint32_t talus_encode_dig(std::uint32_t group, std::int32_t x, std::int32_t y, std::int32_t z) {
    return give(talus::DigRequest{group, {x, y, z}});
}
/// Name, then bytes, are in the buffer.
TALUS_EXPORT(encode_upload) std::uint32_t talus_encode_upload(std::uint32_t name_size) {
    const std::vector<std::uint8_t>& in = module().in;
    const std::size_t split = name_size < in.size() ? name_size : in.size();
    return give(talus::UploadRequest{std::string(in.begin(), in.begin() + std::ptrdiff_t(split)),
                                     {in.begin() + std::ptrdiff_t(split), in.end()}});
}
TALUS_EXPORT(encode_reset) std::uint32_t talus_encode_reset() { return give(talus::ResetRequest{}); }
TALUS_EXPORT(encode_scene) std::uint32_t talus_encode_scene(std::uint32_t number) {
    return give(talus::SceneRequest{number});
}
TALUS_EXPORT(encode_act) std::uint32_t talus_encode_act() { return give(talus::ActRequest{}); }
