// client_state.h - what a ClientWorld holds.
//
// Layer: net. Tests: tests/net/client_world_test.cpp, tests/net/player_test.cpp
#pragma once

#include "net/decode.h"
#include "net/playback.h"
#include "talus/client_world.h"

#include <deque>
#include <map>
#include <set>

namespace talus {

/// Meshes of a grid, chunk by chunk: an edit makes only the chunks around it anew.
struct ChunkMeshes {
    std::map<Cell, Mesh> meshes;
    std::set<Cell> dirty;

    static Cell chunk_of(Cell c) { return {c.x >> 4, c.y >> 4, c.z >> 4}; }
    void mark_all(const Grid& grid);
    void mark_around(Cell cell);
    /// Brings one chunk up to date. @return nullptr when nothing of it is seen
    const Mesh* update(const Grid& grid, float cell_size, Cell chunk, Cell origin);
};

struct ShownGroup {
    WireId id = 0;
    std::unique_ptr<Grid> grid;
    Motion motion;
    bool moving = false;
    Pose drawn;
    Vec3 middle;       // of the blocks, group frame
    float radius = 0;  // about the middle
    ChunkMeshes meshes;
    bool given = false;  // a mesh of it went out
    std::size_t slot = 0;
};

struct ClientWorld::State {
    DecodeState decode;
    std::shared_ptr<BlockTable> table;  // of the grids below
    float cell_size = 1;
    double dt = 0.05;  // of a tick
    std::optional<double> ground;
    DVec3 origin;
    DBox bounds;  // world
    std::uint64_t newest = 0;
    FrameStats frame_stats;
    SceneMenu menu;
    std::uint32_t welcomes = 0;

    PlaybackClock clock;
    std::uint64_t applied = 0;  // tick of the last frame shown
    std::deque<Frame> queue;    // to be shown

    std::unique_ptr<Grid> terrain;
    ChunkMeshes terrain_meshes;
    std::map<Cell, std::uint32_t> chunk_ids;  // of chunks given out
    std::uint32_t next_chunk_id = 1;
    std::vector<std::uint32_t> gone_chunks;

    std::vector<std::unique_ptr<ShownGroup>> groups;  // slot by slot
    std::map<WireId, ShownGroup*> by_id;
    std::vector<WireId> ids;
    std::vector<float> transforms;
    std::vector<ShownGroup*> moving;
    std::set<WireId> dirty_groups;  // meshes to hand out
    std::vector<WireId> gone_groups;

    std::vector<FrameEffect> effects;
    std::vector<Notice> notices;

    std::vector<FrameEffect> blasts;  // that the player has not felt; world

    // What the player stood on after its last move.
    WireId stood_on = 0;
    Vec3 stood_at;           // feet, in the group's frame
    DVec3 stood_world;       // the same, world, then
    DVec3 carried_velocity;  // of that point, over the last move

    void show_welcome(Welcome welcome, Frame frame, double now);
    void show_frame(Frame& frame);
    void add_group(FrameGroup& from);
    void remove_group(WireId id);
    void measure(ShownGroup& group) const;
    void draw(ShownGroup& group, const Pose& pose);
};

}  // namespace talus
