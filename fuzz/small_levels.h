// small_levels.h - little levels in which much is going on, for the fuzz targets of snapshots and recordings.
#pragma once

#include "base/archive.h"
#include "talus/recording.h"

#include <cstring>
#include <memory>
#include <vector>

namespace talus::fuzz {

struct Host final : TerrainSource {
    BlockId stone = 1;
    BlockId block_at(Cell cell) const override { return cell.y == -1 ? stone : kAir; }
    bool is_loaded(const CellBox& cells) const override { return cells.min.x < 16; }
    bool set_block(Cell, BlockId) override { return true; }
};

struct Buffer final : RecordSink {
    std::vector<std::uint8_t> bytes;
    bool write(std::span<const std::uint8_t> more) override {
        bytes.insert(bytes.end(), more.begin(), more.end());
        return true;
    }
};

inline void build(Level& level, Host* host) {
    const BlockId stone = level.table().add(blockgame_stone());
    const BlockId glass = level.table().add(*find_real_material("glass"));
    const Box halves[2] = {{{0, 0, 0}, {1, 0.5f, 1}}, {{0, 0.5f, 0.5f}, {1, 1, 1}}};
    const BlockId stairs = level.table().add(BlockType{"stairs", blockgame_stone(), BlockShape(halves)});
    level.set_terrain_source(host);
    if (!host) {
        for (int x = -3; x < 4; x++) level.set_terrain({x, -1, 0}, x == 1 ? stairs : glass);
        for (int y = 0; y < 3; y++) level.set_terrain({-2, y, 0}, stone);
        level.set_structure_mode(level.mark_structure(CellBox{{-2, 0, 0}, {-2, 2, 0}}),
                                 StructureMode::physical);
        for (int y = 0; y < 2; y++) level.set_terrain({9, y, 0}, glass);
        level.mark_structure(CellBox{{9, 0, 0}, {9, 1, 0}});
    }
    Grid tower(level.table());
    for (int y = 0; y < 3; y++) tower.set({0, y, 0}, stone);
    tower.set({1, 2, 0}, glass);
    tower.set({2, 2, 0}, stairs);
    const GroupId id = level.add_group(std::move(tower), {.bears_load = true});
    level.wear_down(id, {0, 1, 0}, 0.4f);
    Grid slab(level.table());
    for (int i = 0; i < 3; i++) slab.set({i, 0, 0}, glass);
    level.add_group(std::move(slab), {.pose = {{-1, 6, 0}, {0, 0, 0.6f, 0.8f}}, .spin = {0, 1, 1}});
    Grid one(level.table());
    one.set({0, 0, 0}, stone);
    level.remove_group(level.add_group(std::move(one), {}));
    BodySettings ball;
    ball.pose.position = {3, 2, 0};
    level.space().add_body(BodyShape::sphere(0.4f), ball);
}

inline std::unique_ptr<Level> small_level(Host* host) {
    LevelSettings settings;
    settings.ground = -1;
    settings.debris_ticks = 20;
    auto level = std::make_unique<Level>(settings);
    build(*level, host);
    return level;
}

/// A mutation that counts do not get in the way of: six bytes, place (3), kind, value (2).
inline void patch(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t>& input) {
    static constexpr std::uint32_t kOdd[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                             0xffffffff, 0x7fc00000, 0x7f800000, 0x7149f2ca, 0xf149f2ca,
                                             0x3f800000, 0xbf800000, 0x00010000, 0x0000ffff, 0x43160000,
                                             0x4e6e6b28, 0x10000000};
    while (input.size() >= 6 && !bytes.empty()) {
        std::size_t at = input[0] | std::size_t(input[1]) << 8 | std::size_t(input[2]) << 16;
        at %= bytes.size();
        const std::uint8_t kind = input[3], value = input[4], more = input[5];
        input = input.subspan(6);
        switch (kind % 5) {
            case 0:
                bytes[at] = value;
                break;
            case 1:
                bytes[at] ^= value;
                break;
            case 2: {
                const std::uint32_t word = kOdd[value % std::size(kOdd)] + (more < 16 ? more - 8u : 0);
                for (std::size_t k = 0; k < 4 && at + k < bytes.size(); k++)
                    bytes[at + k] = std::uint8_t(word >> (8 * k));
                break;
            }
            case 3: {  // another piece of the same bytes
                const std::size_t from = (value | std::size_t(more) << 8) * 7 % bytes.size();
                for (std::size_t k = 0; k < 12 && at + k < bytes.size() && from + k < bytes.size(); k++)
                    bytes[at + k] = bytes[from + k];
                break;
            }
            default:
                bytes[at] = std::uint8_t(bytes[at] + value);
        }
    }
}

}  // namespace talus::fuzz
