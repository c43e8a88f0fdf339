// wire_world.h - a small server by hand for tests: makes frames and encodes them, without a level.
#pragma once

#include "talus/client_world.h"
#include "talus/protocol.h"

#include <utility>

namespace talus {

struct WireWorld {
    BlockTable table;
    BlockId stone = table.add(*find_real_material("stone"));
    BlockId bricks = table.add(*find_real_material("bricks"));
    Grid terrain{table};
    std::uint64_t tick = 100;
    std::optional<double> ground = 0;
    float cell_size = 1;

    std::vector<BlockType> types() const {
        std::vector<BlockType> out;
        for (std::size_t i = 1; i < table.size(); i++) out.push_back(table[BlockId(i)]);
        return out;
    }
    static FrameGroup group(WireId id, const Grid& grid, const Pose& pose, Vec3 pivot = {}) {
        FrameGroup g;
        g.id = id;
        g.grid = &grid;
        g.pose = g.birth = pose;
        g.pivot = pivot;
        return g;
    }
    std::vector<std::uint8_t> welcome(Frame frame = {}) const {
        frame.tick = tick;
        frame.blocks = types();
        Welcome w;
        w.cell_size = cell_size;
        w.ground = ground;
        w.terrain = &terrain;
        return encode_frame(frame, &w);
    }
    std::vector<std::uint8_t> next(Frame frame = {}) {
        frame.tick = ++tick;
        frame.first_block = std::uint32_t(table.size());
        return encode_frame(frame);
    }
    /// A solid box of blocks with its minimum corner at the grid's zero.
    Grid box(int nx, int ny, int nz) {
        Grid g(table);
        for (int y = 0; y < ny; y++)
            for (int z = 0; z < nz; z++)
                for (int x = 0; x < nx; x++) g.set({x, y, z}, stone);
        return g;
    }
};

inline Frame frame_of(std::vector<FramePose> poses) {
    Frame f;
    f.poses = std::move(poses);
    return f;
}

}  // namespace talus
