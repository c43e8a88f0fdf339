#include "talus/client_world.h"

#include "net/client_state.h"

#include <algorithm>
#include <cmath>

namespace talus {

namespace {

constexpr std::size_t kMaxQueue = 1200;  // frames: a minute without a picture drawn
constexpr std::size_t kMaxFelt = 64;     // blasts between two moves of the player
constexpr std::size_t kMaxHeld = 4096;   // effects and notices nobody took

Cell chunk_min(Cell chunk) { return {chunk.x * kMeshChunk, chunk.y * kMeshChunk, chunk.z * kMeshChunk}; }

}  // namespace

void ChunkMeshes::mark_all(const Grid& grid) {
    for (const Brick* brick : grid.bricks()) dirty.insert(chunk_of(brick->origin()));
}

void ChunkMeshes::mark_around(Cell c) {
    static_assert(kMeshChunk == 16, "chunk_of shifts by 4");
    for (int dy = -1; dy <= 1; dy++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dx = -1; dx <= 1; dx++) dirty.insert(chunk_of(c + Cell{dx, dy, dz}));
}

const Mesh* ChunkMeshes::update(const Grid& grid, float cell_size, Cell chunk, Cell origin) {
    const Cell lo = chunk_min(chunk);
    Mesh mesh;
    mesh_blocks(grid, cell_size, {lo, lo + Cell{kMeshChunk - 1, kMeshChunk - 1, kMeshChunk - 1}}, origin,
                mesh);
    if (mesh.empty()) {
        meshes.erase(chunk);
        return nullptr;
    }
    Mesh& kept = meshes[chunk];
    kept = std::move(mesh);
    return &kept;
}

ClientWorld::ClientWorld() : state_(std::make_unique<State>()) {}
ClientWorld::~ClientWorld() = default;

void ClientWorld::reset() { state_ = std::make_unique<State>(); }

std::optional<Error> ClientWorld::receive(std::span<const std::uint8_t> message, double now) {
    State& s = *state_;
    Result<ServerMessage> decoded = decode_server_message(message, s.decode);
    if (!decoded) return decoded.error();
    if (decoded->notice && s.notices.size() < kMaxHeld)
        s.notices.push_back({decoded->notice->error, std::move(decoded->notice->text)});
    if (!decoded->frame) return std::nullopt;
    s.newest = decoded->frame->tick;
    s.frame_stats = decoded->frame->stats;
    if (decoded->welcome) {
        s.show_welcome(std::move(*decoded->welcome), std::move(*decoded->frame), now);
        return std::nullopt;
    }
    s.clock.arrived(decoded->frame->tick, now);
    s.queue.push_back(std::move(*decoded->frame));
    if (s.queue.size() > kMaxQueue) {  // the page does not draw: keep up without it
        s.show_frame(s.queue.front());
        s.queue.pop_front();
    }
    return std::nullopt;
}

void ClientWorld::State::show_welcome(Welcome welcome, Frame frame, double now) {
    // The old world goes: grids before their table.
    queue.clear();
    while (!groups.empty()) remove_group(groups.back()->id);
    for (const auto& [chunk, id] : chunk_ids) gone_chunks.push_back(id);
    chunk_ids.clear();
    terrain_meshes = {};
    blasts.clear();
    stood_on = 0;
    terrain = std::move(welcome.own_terrain);
    table = decode.table;

    cell_size = welcome.cell_size;
    dt = 1.0 / double(welcome.ticks_per_second);
    ground = welcome.ground;
    origin = welcome.origin;
    menu = std::move(welcome.menu);
    welcomes++;
    applied = frame.tick;
    clock.start(frame.tick, double(welcome.ticks_per_second), now);
    terrain_meshes.mark_all(*terrain);
    for (FrameGroup& g : frame.groups) g.birth = g.pose;
    show_frame(frame);

    bounds = {origin, origin};
    bool first = true;
    auto include = [&](DVec3 p) {
        bounds = first ? DBox{p, p} : DBox{min(bounds.min, p), max(bounds.max, p)};
        first = false;
    };
    if (!terrain->empty()) {
        const CellBox box = terrain->bounds();
        const double size = cell_size;
        include({box.min.x * size, box.min.y * size, box.min.z * size});
        include({(box.max.x + 1) * size, (box.max.y + 1) * size, (box.max.z + 1) * size});
    }
    for (const auto& g : groups) {
        const DVec3 middle = to_world(g->drawn, g->middle);
        const double r = g->radius;
        include(middle - DVec3{r, r, r});
        include(middle + DVec3{r, r, r});
    }
}

void ClientWorld::State::measure(ShownGroup& group) const {
    const CellBox box = group.grid->bounds();
    if (box.empty()) {
        group.radius = 0;
        return;
    }
    const Vec3 lo = Vec3{float(box.min.x), float(box.min.y), float(box.min.z)} * cell_size;
    const Vec3 hi = Vec3{float(box.max.x + 1), float(box.max.y + 1), float(box.max.z + 1)} * cell_size;
    group.middle = (lo + hi) * 0.5f;
    group.radius = length(hi - lo) * 0.5f;
}

void ClientWorld::State::draw(ShownGroup& group, const Pose& pose) {
    group.drawn = pose;
    float* t = &transforms[8 * group.slot];
    const Vec3 p = to_float(pose.position - origin);
    t[0] = p.x, t[1] = p.y, t[2] = p.z, t[3] = 0;
    t[4] = pose.rotation.x, t[5] = pose.rotation.y, t[6] = pose.rotation.z, t[7] = pose.rotation.w;
}

void ClientWorld::State::add_group(FrameGroup& from) {
    auto made = std::make_unique<ShownGroup>();
    ShownGroup& group = *made;
    group.id = from.id;
    group.grid = std::move(from.own);
    group.motion.start(from.birth, from.pose, from.pivot);
    group.slot = groups.size();
    groups.push_back(std::move(made));
    ids.push_back(group.id);
    transforms.resize(transforms.size() + 8);
    by_id[group.id] = &group;
    measure(group);
    draw(group, from.birth);
    group.meshes.mark_all(*group.grid);
    dirty_groups.insert(group.id);
    if (!group.motion.still()) {
        group.moving = true;
        moving.push_back(&group);
    }
}

void ClientWorld::State::remove_group(WireId id) {
    const auto it = by_id.find(id);
    if (it == by_id.end()) return;
    ShownGroup& group = *it->second;
    if (group.given) gone_groups.push_back(id);
    if (group.moving) std::erase(moving, &group);
    dirty_groups.erase(id);
    // The last one takes its slot.
    const std::size_t slot = group.slot, last = groups.size() - 1;
    std::copy_n(&transforms[8 * last], 8, &transforms[8 * slot]);
    transforms.resize(8 * last);
    ids[slot] = ids[last];
    ids.pop_back();
    std::swap(groups[slot], groups[last]);
    groups[slot]->slot = slot;
    by_id.erase(it);
    groups.pop_back();
}

void ClientWorld::State::show_frame(Frame& frame) {
    applied = frame.tick;
    for (const WireId id : frame.removed) remove_group(id);
    for (ShownGroup* group : moving) group->motion.step();
    for (FrameGroup& g : frame.groups) add_group(g);
    for (const FrameEdits& e : frame.edits) {
        const auto it = by_id.find(e.group);
        Grid* grid = e.group == kTerrainId ? terrain.get()
                     : it != by_id.end()   ? it->second->grid.get()
                                           : nullptr;
        if (!grid) continue;
        ChunkMeshes& meshes = e.group == kTerrainId ? terrain_meshes : it->second->meshes;
        for (const BlockEdit& edit : e.edits) {
            grid->set(edit.cell, edit.block);
            meshes.mark_around(edit.cell);
        }
        if (e.group != kTerrainId) {
            measure(*it->second);
            dirty_groups.insert(e.group);
        }
    }
    for (const FramePose& p : frame.poses) {
        const auto it = by_id.find(p.group);
        if (it == by_id.end()) continue;
        ShownGroup& group = *it->second;
        if (!group.moving) {
            group.motion.step();
            group.moving = true;
            moving.push_back(&group);
        }
        group.motion.target(p.pose);
    }
    for (const FrameEffect& e : frame.effects) {
        if (e.kind == FrameEffect::Kind::blast && blasts.size() < kMaxFelt) blasts.push_back(e);
        if (effects.size() == kMaxHeld) continue;
        effects.push_back(e);
        effects.back().point -= origin;
    }
    for (std::size_t i = 0; i < moving.size();) {
        ShownGroup& group = *moving[i];
        if (!group.motion.still()) {
            i++;
            continue;
        }
        draw(group, group.motion.at(1, dt));
        group.moving = false;
        moving[i] = moving.back();
        moving.pop_back();
    }
}

void ClientWorld::advance(double now) {
    State& s = *state_;
    if (!s.terrain) return;
    const double shown = s.clock.advance(now);
    while (!s.queue.empty() && shown > double(s.applied)) {
        s.show_frame(s.queue.front());
        s.queue.pop_front();
    }
    const double t = 1 - (double(s.applied) - shown);
    for (ShownGroup* group : s.moving) s.draw(*group, group->motion.at(t < 0 ? 0 : t, s.dt));
}

std::vector<ClientWorld::MeshChange> ClientWorld::take_chunk_changes() {
    State& s = *state_;
    std::vector<MeshChange> out;
    for (const std::uint32_t id : s.gone_chunks) out.push_back({id, {}, std::nullopt});
    s.gone_chunks.clear();
    for (const Cell chunk : s.terrain_meshes.dirty) {
        const Cell lo = chunk_min(chunk);
        const Mesh* mesh = s.terrain_meshes.update(*s.terrain, s.cell_size, chunk, lo);
        const auto it = s.chunk_ids.find(chunk);
        if (!mesh && it == s.chunk_ids.end()) continue;
        MeshChange& change = out.emplace_back();
        change.id = it != s.chunk_ids.end() ? it->second : s.next_chunk_id++;
        const double size = s.cell_size;
        change.origin = DVec3{lo.x * size, lo.y * size, lo.z * size} - s.origin;
        if (mesh) {
            change.mesh = *mesh;
            s.chunk_ids[chunk] = change.id;
        } else {
            s.chunk_ids.erase(it);
        }
        s.terrain_meshes.meshes.erase(chunk);  // nobody asks twice: a chunk is handed out whole
    }
    s.terrain_meshes.dirty.clear();
    return out;
}

std::vector<ClientWorld::MeshChange> ClientWorld::take_group_changes() {
    State& s = *state_;
    std::vector<MeshChange> out;
    for (const WireId id : s.gone_groups) out.push_back({id, {}, std::nullopt});
    s.gone_groups.clear();
    for (const WireId id : s.dirty_groups) {
        ShownGroup& group = *s.by_id[id];
        for (const Cell chunk : group.meshes.dirty)
            group.meshes.update(*group.grid, s.cell_size, chunk, {0, 0, 0});
        group.meshes.dirty.clear();
        MeshChange& change = out.emplace_back();
        change.id = id;
        change.mesh.emplace();
        for (const auto& [chunk, mesh] : group.meshes.meshes) change.mesh->append(mesh);
        group.given = true;
    }
    s.dirty_groups.clear();
    return out;
}

std::vector<FrameEffect> ClientWorld::take_effects() { return std::exchange(state_->effects, {}); }
std::vector<ClientWorld::Notice> ClientWorld::take_notices() { return std::exchange(state_->notices, {}); }

std::span<const WireId> ClientWorld::group_ids() const { return state_->ids; }
std::span<const float> ClientWorld::transforms() const { return state_->transforms; }
std::size_t ClientWorld::moving_count() const { return state_->moving.size(); }

std::optional<Pose> ClientWorld::pose_of(WireId id) const {
    const auto it = state_->by_id.find(id);
    return it == state_->by_id.end() ? std::nullopt : std::optional(it->second->drawn);
}

ClientWorld::Pick ClientWorld::pick(DVec3 from, Vec3 direction, double reach) const {
    const State& s = *state_;
    Pick best;
    const Vec3 d = normalized(direction);
    if (!s.terrain || !is_finite(from) || !is_finite(d) || d == Vec3{} || !(reach > 0)) return best;
    const DVec3 world = from + s.origin;
    best.distance = reach;
    if (s.ground && d.y < 0) {
        const double t = (world.y - *s.ground) / -double(d.y);
        if (t >= 0 && t <= best.distance) best = {Pick::Kind::ground, 0, {}, {}, {0, 1, 0}, t};
    }
    auto axes = [](Cell n) { return Vec3{float(n.x), float(n.y), float(n.z)}; };
    if (const auto hit = cast_ray(*s.terrain, s.cell_size, world, d, float(best.distance)))
        if (double(hit->distance) < best.distance)
            best = {Pick::Kind::terrain, 0, hit->cell, {}, axes(hit->normal), hit->distance};
    for (const auto& g : s.groups) {
        // The sphere about its blocks first.
        const DVec3 way = to_world(g->drawn, g->middle) - world;
        const double along = dot(way, to_double(d)), r = double(g->radius) + 1e-3;
        if (along < -r || along > best.distance + r || dot(way, way) - along * along > r * r) continue;
        const Vec3 local_from = to_local(g->drawn, world), local_d = unrotate(g->drawn.rotation, d);
        const auto hit =
            cast_ray(*g->grid, s.cell_size, to_double(local_from), local_d, float(best.distance));
        if (hit && double(hit->distance) < best.distance)
            best = {Pick::Kind::group, g->id, hit->cell, {}, rotate(g->drawn.rotation, axes(hit->normal)),
                    hit->distance};
    }
    if (best.kind == Pick::Kind::none) return {};
    best.point = from + to_double(d) * best.distance;
    return best;
}

ClientWorld::Stats ClientWorld::stats() const {
    const State& s = *state_;
    Stats out;
    out.connected = s.terrain != nullptr;
    out.tick = s.newest;
    out.frame = s.frame_stats;
    if (s.ground) out.ground = *s.ground - s.origin.y;
    if (out.connected) out.bounds = {s.bounds.min - s.origin, s.bounds.max - s.origin};
    out.shown_tick = s.clock.shown();
    out.rate = s.clock.rate();
    out.welcomes = s.welcomes;
    return out;
}

const SceneMenu& ClientWorld::menu() const { return state_->menu; }

DVec3 ClientWorld::origin() const { return state_->origin; }

}  // namespace talus
