#include "scenes/demo_town.h"

#include <cstdlib>
#include <utility>

namespace talus {

namespace {

constexpr int kSizeX = 96, kSizeZ = 88;
constexpr int kBed = -3;  // y of the stream's bed blocks

/// Every block of the town: materials of *real* in colours of their own.
struct TownBlocks {
    BlockId grass, meadow, earth, path, paving, sand, water;
    BlockId limestone, cobble, dark_stone, brick, dark_brick, ochre_brick;
    BlockId cream, ochre, rose, blue, timber, planks, glass, trunk;
    BlockId leaves[4];

    /// A roof covering: full blocks, and steps that rise towards +x, -x, +z, -z, and a slab for the ridge.
    struct Roof {
        BlockId full, step[4], slab;
    };
    Roof tiles, slate, thatch, copper;
    BlockId wall_slab;

    explicit TownBlocks(BlockTable& table) : table_(table) {
        grass = block("earth", "grass", 0x6f9a4a);
        meadow = block("earth", "meadow", 0x7fa84f);
        earth = block("earth", "earth", 0x7a5a3c);
        path = block("sand", "gravel path", 0xb9ab8b);
        paving = block("stone", "paving", 0xa7a197);
        sand = block("sand", "river sand", 0xd3c695);
        Material stream = *find_real_material("ice");
        stream.name = "water";
        stream.density = 1000;
        stream.solid = false;
        stream.color = 0x4f8fb8;
        water = table.add(stream);
        limestone = block("stone", "limestone", 0xcfc4a8);
        cobble = block("stone", "cobble", 0x8f8c86);
        dark_stone = block("stone", "dark stone", 0x6e6c6a);
        brick = block("bricks", "red bricks", 0x9b5643);
        dark_brick = block("bricks", "dark bricks", 0x7d4638);
        ochre_brick = block("bricks", "ochre bricks", 0xb98a5e);
        cream = block("plaster", "cream plaster", 0xeee6d2);
        ochre = block("plaster", "ochre plaster", 0xe0bb74);
        rose = block("plaster", "rose plaster", 0xd9a08a);
        blue = block("plaster", "blue plaster", 0xa3b9c9);
        timber = block("wood", "timber", 0x59402a);
        planks = block("planks", "floor planks", 0xa98a56);
        glass = block("glass", "window", 0xbfe0ea);
        trunk = block("wood", "trunk", 0x6b5132);
        leaves[0] = block("leaves", "oak leaves", 0x4c7a34);
        leaves[1] = block("leaves", "lime leaves", 0x639142);
        leaves[2] = block("leaves", "birch leaves", 0x86a84a);
        leaves[3] = block("leaves", "maple leaves", 0xc07a33);
        tiles = roof("bricks", "roof tiles", 0xb5503a);
        slate = roof("slate", "roof slate", 0x565a66);
        thatch = roof("planks", "shingles", 0x8c7350);
        copper = roof("wood", "copper sheets on timber", 0x6aa892);
        static constexpr Box kLow{{0, 0, 0}, {1, 0.5f, 1}};
        wall_slab = block("stone", "coping", 0xb3ab98, {&kLow, 1});
    }

 private:
    BlockId block(const char* real, const char* name, std::uint32_t color, std::span<const Box> boxes = {}) {
        BlockType type;
        type.material = *find_real_material(real);
        type.material.name = type.name = name;
        type.material.color = color;
        if (!boxes.empty()) type.shape = BlockShape(boxes);
        return table_.add(type);
    }
    Roof roof(const char* real, const std::string& name, std::uint32_t color) {
        Roof r;
        r.full = block(real, name.c_str(), color);
        static constexpr Box kLow{{0, 0, 0}, {1, 0.5f, 1}};
        static constexpr Box kHigh[4] = {{{0.5f, 0.5f, 0}, {1, 1, 1}},
                                         {{0, 0.5f, 0}, {0.5f, 1, 1}},
                                         {{0, 0.5f, 0.5f}, {1, 1, 1}},
                                         {{0, 0.5f, 0}, {1, 1, 0.5f}}};
        static constexpr const char* kTowards[4] = {" step +x", " step -x", " step +z", " step -z"};
        for (int k = 0; k < 4; k++) {
            const Box both[2] = {kLow, kHigh[k]};
            r.step[k] = block(real, (name + kTowards[k]).c_str(), color, both);
        }
        r.slab = block(real, (name + " slab").c_str(), color, {&kLow, 1});
        return r;
    }
    BlockTable& table_;
};

/// A number that looks random but is always the same for a place.
std::uint32_t place_hash(int x, int z) {
    std::uint32_t h = std::uint32_t(x) * 0x9e3779b1u ^ std::uint32_t(z) * 0x85ebca77u;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return h ^ (h >> 15);
}

void fill(Grid& g, Cell lo, Cell hi, BlockId id) {
    for (int y = lo.y; y <= hi.y; y++)
        for (int z = lo.z; z <= hi.z; z++)
            for (int x = lo.x; x <= hi.x; x++) g.set({x, y, z}, id);
}

/// The four walls of a box, no floor and no roof.
void walls(Grid& g, Cell lo, Cell hi, BlockId id) {
    fill(g, lo, {hi.x, hi.y, lo.z}, id);
    fill(g, {lo.x, lo.y, hi.z}, hi, id);
    fill(g, lo, {lo.x, hi.y, hi.z}, id);
    fill(g, {hi.x, lo.y, lo.z}, hi, id);
}

/// A gable roof over the walls [0, w) x [0, d) that end below y = h; the ridge runs along x or z.
/// Under each step but the lowest lies a full block, so that the rows hold together by faces.
void gable_roof(Grid& g, int w, int d, int h, bool ridge_along_x, const TownBlocks::Roof& roof,
                BlockId gable) {
    const int across = ridge_along_x ? d : w, along = ridge_along_x ? w : d;
    auto put = [&](int a, int y, int b, BlockId id) {  // a across, b along
        g.set(ridge_along_x ? Cell{b, y, a} : Cell{a, y, b}, id);
    };
    const int up = ridge_along_x ? 2 : 0;  // step[] towards + across
    for (int k = -1; k <= across - 1 - k; k++) {
        const int near = k, far = across - 1 - k, y = h + k;
        for (int b = -1; b <= along; b++) {
            if (near == far) {
                put(near, y, b, roof.slab);
            } else {
                put(near, y, b, roof.step[up]);
                put(far, y, b, roof.step[up + 1]);
            }
            if (k < 1) continue;
            put(near, y - 1, b, roof.full);
            put(far, y - 1, b, roof.full);
        }
        // The gables' walls up to the roof.
        for (int y1 = h; y1 < y - 1; y1++)
            for (const int b : {0, along - 1}) {
                put(near, y1, b, gable);
                put(far, y1, b, gable);
            }
    }
}

struct House {
    const char* name;
    int x, z, w, d, floors;
    BlockId base, wall, frame;  // ground floor, upper floors, corners and beams
    const TownBlocks::Roof* roof;
    bool ridge_along_x;
    bool half_timbered;
    int door_side;  // 0: -z, 1: +z, 2: -x, 3: +x
};

constexpr int kStorey = 4;

Grid make_house(const BlockTable& table, const TownBlocks& b, const House& s) {
    Grid g(table);
    const int w = s.w, d = s.d, top = s.floors * kStorey;
    fill(g, {0, 0, 0}, {w - 1, 0, d - 1}, b.cobble);
    for (int floor = 0; floor < s.floors; floor++) {
        const int y0 = floor * kStorey;
        const BlockId wall = floor == 0 ? s.base : s.wall;
        walls(g, {0, y0 + (floor == 0), 0}, {w - 1, y0 + kStorey - 1, d - 1}, wall);
        // Windows, two high, every third cell; timber posts between them on half-timbered storeys.
        auto facade = [&](int length, auto&& at) {
            for (int i = 1; i < length - 1; i++) {
                if (i % 3 == 2 && i < length - 2) {
                    g.set(at(i, y0 + 2), b.glass);
                    if (floor > 0) g.set(at(i, y0 + 1), b.glass);
                } else if (s.half_timbered && floor > 0 && i % 3 == 1) {
                    for (int y = y0; y < y0 + kStorey; y++) g.set(at(i, y), s.frame);
                }
            }
        };
        facade(w, [](int i, int y) { return Cell{i, y, 0}; });
        facade(w, [&](int i, int y) { return Cell{i, y, d - 1}; });
        facade(d, [](int i, int y) { return Cell{0, y, i}; });
        facade(d, [&](int i, int y) { return Cell{w - 1, y, i}; });
        for (const int x : {0, w - 1})
            for (const int z : {0, d - 1}) fill(g, {x, y0, z}, {x, y0 + kStorey - 1, z}, s.frame);
        if (floor == 0) continue;
        // The storey's beams and boards, with a hole for the ladder.
        walls(g, {0, y0, 0}, {w - 1, y0, d - 1}, s.half_timbered ? s.frame : wall);
        fill(g, {1, y0, 1}, {w - 2, y0, d - 2}, b.planks);
        fill(g, {1, y0, 1}, {1, y0, 2}, kAir);
    }
    fill(g, {1, top - 1, 1}, {w - 2, top - 1, d - 2}, b.planks);
    // The door and a step before it.
    const int middle_x = w / 2, middle_z = d / 2;
    const Cell door = s.door_side == 0   ? Cell{middle_x, 1, 0}
                      : s.door_side == 1 ? Cell{middle_x, 1, d - 1}
                      : s.door_side == 2 ? Cell{0, 1, middle_z}
                                         : Cell{w - 1, 1, middle_z};
    fill(g, door, door + Cell{0, 1, 0}, kAir);
    gable_roof(g, w, d, top, s.ridge_along_x, *s.roof, s.wall);
    // A chimney from the top floor through the roof.
    const int cx = s.ridge_along_x ? w - 3 : w / 2 - 1, cz = s.ridge_along_x ? d / 2 - 1 : d - 3;
    const int peak = top + (s.ridge_along_x ? d : w) / 2 + 1;
    fill(g, {cx, top, cz}, {cx, peak, cz}, b.dark_brick);
    return g;
}

Grid make_church(const BlockTable& table, const TownBlocks& b) {
    Grid g(table);
    // The nave: 11 wide, 20 long, with tall windows and buttresses.
    const int w = 11, d = 20, h = 9;
    fill(g, {0, 0, 0}, {w - 1, 0, d - 1}, b.paving);
    walls(g, {0, 1, 0}, {w - 1, h - 1, d - 1}, b.limestone);
    for (int z = 2; z < d - 1; z += 4) {
        for (const int x : {0, w - 1}) fill(g, {x, 3, z}, {x, 6, z}, b.glass);
        for (const int x : {-1, w}) fill(g, {x, 0, z + 2}, {x, 5, z + 2}, b.cobble);
    }
    fill(g, {w / 2 - 1, 3, 0}, {w / 2 + 1, 6, 0}, b.glass);
    fill(g, {w / 2, 7, 0}, {w / 2, 7, 0}, b.glass);
    gable_roof(g, w, d, h, false, b.slate, b.limestone);
    // The tower before it, 7 x 7, with a belfry and a copper spire.
    const int x0 = 2, x1 = 8, z0 = d, z1 = d + 6, tall = 22;
    fill(g, {x0 - 1, 0, z0 - 1}, {x1 + 1, tall, z1 + 1}, kAir);
    fill(g, {x0, 0, z0}, {x1, 0, z1}, b.paving);
    walls(g, {x0, 0, z0}, {x1, tall - 1, z1}, b.limestone);
    walls(g, {0, 1, d - 1}, {w - 1, h - 1, d - 1}, b.limestone);  // the nave's end wall, cut by the clearing
    for (int y = h; y < h + w / 2; y++) fill(g, {y - h, y, d - 1}, {w - 1 - (y - h), y, d - 1}, b.limestone);
    for (const int x : {x0, x1})
        for (const int z : {z0, z1}) fill(g, {x, 0, z}, {x, tall - 1, z}, b.cobble);
    for (int y = 0; y <= tall; y += 7) walls(g, {x0, y, z0}, {x1, y, z1}, b.cobble);
    for (const int y : {7, 14, 21}) fill(g, {x0 + 1, y, z0 + 1}, {x1 - 1, y, z1 - 1}, b.planks);
    fill(g, {5, 1, z1}, {5, 3, z1}, kAir);        // the portal ...
    fill(g, {5, 1, d - 1}, {5, 3, d - 1}, kAir);  // ... and the way into the nave,
    fill(g, {5, 1, z0}, {5, 3, z0}, kAir);        // through both walls
    fill(g, {5, 10, z1}, {5, 11, z1}, b.glass);
    for (const int k : {4, 6}) {  // belfry openings on four sides
        fill(g, {k, 16, z0}, {k, 18, z0}, kAir);
        fill(g, {k, 16, z1}, {k, 18, z1}, kAir);
        fill(g, {x0, 16, z0 + k - 2}, {x0, 18, z0 + k - 2}, kAir);
        fill(g, {x1, 16, z0 + k - 2}, {x1, 18, z0 + k - 2}, kAir);
    }
    // The spire: hollow rings, each reaching down into the one below so that they share faces.
    for (int k = 0; k < 4; k++) {
        const int y = tall + 2 * k - (k > 0);
        walls(g, {x0 + k, y, z0 + k}, {x1 - k, tall + 2 * k + 1, z1 - k}, b.copper.full);
    }
    fill(g, {5, tall + 8, z0 + 3}, {5, tall + 10, z0 + 3}, b.timber);
    g.set({4, tall + 9, z0 + 3}, b.timber);
    g.set({6, tall + 9, z0 + 3}, b.timber);
    return g;
}

/// A stretch of town wall along x, two thick, with battlements and a walk of slabs.
Grid make_wall(const BlockTable& table, const TownBlocks& b, int length) {
    Grid g(table);
    fill(g, {0, 0, 0}, {length - 1, 4, 1}, b.cobble);
    fill(g, {0, 0, 0}, {length - 1, 0, 1}, b.dark_stone);
    for (int x = 0; x < length; x++) {
        if (x % 3 != 2) g.set({x, 5, 0}, b.cobble);
        if (x % 8 == 4) fill(g, {x, 0, 2}, {x, 3, 2}, b.dark_stone);
        if (x % 6 == 3) fill(g, {x, 2, 0}, {x, 3, 0}, kAir);
    }
    return g;
}

/// A gate: two round-ish towers and an arch between them.
Grid make_gate(const BlockTable& table, const TownBlocks& b) {
    Grid g(table);
    for (const int x0 : {0, 9}) {
        walls(g, {x0, 0, 0}, {x0 + 4, 10, 4}, b.limestone);
        fill(g, {x0, 0, 0}, {x0 + 4, 0, 4}, b.dark_stone);
        for (const int y : {4, 8}) fill(g, {x0, y, 0}, {x0 + 4, y, 4}, b.limestone);
        fill(g, {x0 + 2, 6, 0}, {x0 + 2, 6, 0}, kAir);
        fill(g, {x0 + 2, 6, 4}, {x0 + 2, 6, 4}, kAir);
        // A pointed roof.
        fill(g, {x0, 11, 0}, {x0 + 4, 11, 4}, b.tiles.full);
        for (int k = 0, y = 12; k < 3; k++, y += 2)
            fill(g, {x0 + k, y, k}, {x0 + 4 - k, y + 1, 4 - k}, b.tiles.full);
    }
    fill(g, {5, 5, 1}, {8, 8, 3}, b.cobble);
    g.set({5, 4, 1}, b.cobble), g.set({8, 4, 1}, b.cobble);
    g.set({5, 4, 2}, b.cobble), g.set({8, 4, 2}, b.cobble);
    g.set({5, 4, 3}, b.cobble), g.set({8, 4, 3}, b.cobble);
    for (int x = 5; x < 9; x += 2) g.set({x, 9, 1}, b.cobble), g.set({x, 9, 3}, b.cobble);
    return g;
}

/// Height of the ground's surface: 0 in the town, gentle hills around, the stream's bed.
int surface(int x, int z) {
    const int stream = 64 + (x > 70 ? (x - 70) / 6 : 0) + (x < 26 ? (26 - x) / 7 : 0);  // near bank
    if (z >= stream && z < stream + 15) {
        const int edge = z - stream < 14 - (z - stream) ? z - stream : 14 - (z - stream);
        return edge == 0 ? -1 : kBed + 1;
    }
    auto hill = [&](int cx, int cz, int radius, int height) {
        const int dx = x - cx, dz = z - cz;
        const int r2 = dx * dx + dz * dz;
        return r2 >= radius * radius ? 0 : height * (radius * radius - r2) / (radius * radius);
    };
    int h = hill(-2, 50, 15, 5) + hill(98, 64, 12, 4) + hill(14, 94, 14, 6) + hill(84, 96, 18, 5);
    // The bridge's road and the wall's foot stay level.
    if (x > 42 && x < 54 && z >= 60) h = 0;
    return h > 4 ? 4 : h;
}

/// Arches along z, on piers in the stream; y = 0 is the bed's top. Blocks that would lie in the banks are
/// left out.
constexpr int kBridgeLength = 25, kBridgeWidth = 6;
Grid make_bridge(const BlockTable& table, const TownBlocks& b, Cell at) {
    Grid g(table);
    constexpr int kBay = 8;                                       // a pier and a span of 7
    static constexpr int kFree[kBay] = {0, 1, 3, 4, 4, 4, 3, 1};  // height under the arch
    auto put = [&](Cell c, BlockId id) {
        if (c.y + at.y >= surface(c.x + at.x, c.z + at.z)) g.set(c, id);
    };
    for (int z = 0; z < kBridgeLength; z++) {
        const int end = z < kBridgeLength - 1 - z ? z : kBridgeLength - 1 - z;
        // The street climbs by whole blocks, with a slab before each.
        const int top = -1 - kBed + (end < 2 ? 0 : end < 4 ? 1 : end < 7 ? 2 : 3);
        const bool step = end == 1 || end == 3 || end == 6;
        const bool pier = z % kBay == 0;
        const int under = kFree[z % kBay] < top - 1 ? kFree[z % kBay] : top - 1;
        for (int x = 0; x < kBridgeWidth; x++) {
            for (int y = under; y <= top; y++)
                put({x, y, z}, y == top ? b.paving : pier || y == under ? b.limestone : b.cobble);
            const bool parapet = x == 0 || x == kBridgeWidth - 1;
            if (parapet || step) put({x, top + 1, z}, parapet ? b.limestone : b.wall_slab);
            if (parapet) put({x, top + 2, z}, pier ? b.limestone : b.wall_slab);
        }
        if (pier)
            for (const int x : {-1, kBridgeWidth})
                for (int y = 0; y < 3; y++) put({x, y, z}, b.dark_stone);
    }
    return g;
}

Grid make_tree(const BlockTable& table, const TownBlocks& b, int height, int radius, BlockId leaves) {
    Grid g(table);
    const int middle = height + radius - 1;
    for (int y = -radius; y <= radius; y++)
        for (int z = -radius; z <= radius; z++)
            for (int x = -radius; x <= radius; x++) {
                const int r2 = x * x + y * y + z * z, limit = radius * radius + 1;
                // Ragged at the rim, but a leaf there hangs on the one behind it, straight towards the
                // middle.
                const int ax = std::abs(x), ay = std::abs(y), az = std::abs(z),
                          inner = (radius - 1) * (radius - 1) + 1;
                const int longest = ax >= ay && ax >= az ? ax : ay >= az ? ay : az;
                if (r2 > limit) continue;
                if (r2 > inner &&
                    (r2 - 2 * longest + 1 > inner || place_hash(x * 31 + y * 7, z * 13 + height) % 4 == 0))
                    continue;
                g.set({x, middle + y, z}, leaves);
            }
    fill(g, {0, 0, 0}, {0, middle, 0}, b.trunk);
    return g;
}

Grid make_fountain(const BlockTable& table, const TownBlocks& b) {
    Grid g(table);
    fill(g, {0, 0, 0}, {6, 0, 6}, b.paving);
    walls(g, {0, 1, 0}, {6, 1, 6}, b.limestone);
    for (const int x : {0, 6})
        for (const int z : {0, 6}) g.set({x, 1, z}, kAir), g.set({x, 0, z}, kAir);
    fill(g, {3, 1, 3}, {3, 4, 3}, b.limestone);
    fill(g, {2, 3, 3}, {4, 3, 3}, b.wall_slab);
    fill(g, {3, 3, 2}, {3, 3, 4}, b.wall_slab);
    g.set({3, 3, 3}, b.limestone);
    for (int z = 1; z < 6; z++)
        for (int x = 1; x < 6; x++)
            if (!g.has({x, 1, z})) g.set({x, 1, z}, b.water);
    return g;
}

Grid make_stall(const BlockTable& table, const TownBlocks& b, BlockId cloth, BlockId other_cloth) {
    Grid g(table);
    for (const int x : {0, 4})
        for (const int z : {0, 2}) fill(g, {x, 0, z}, {x, 2, z}, b.timber);
    for (int x = 0; x <= 4; x++) fill(g, {x, 3, 0}, {x, 3, 2}, x % 2 ? cloth : other_cloth);
    fill(g, {1, 0, 0}, {3, 0, 0}, b.planks);
    return g;
}

void make_terrain(Grid& g, const TownBlocks& b) {
    for (int z = 0; z < kSizeZ; z++)
        for (int x = 0; x < kSizeX; x++) {
            const int top = surface(x, z);
            const bool stream = top <= kBed + 1;
            const bool square = x >= 35 && x < 64 && z >= 25 && z < 45;
            const bool road = (x >= 46 && x <= 51 && (z < 26 || (z >= 44 && z < 65) || z >= 78)) ||
                              (z >= 34 && z <= 36 && x >= 22 && x < 76);
            BlockId cover = place_hash(x / 2, z / 2) % 3 ? b.grass : b.meadow;
            if (stream || top < 0) cover = b.sand;
            if (square)
                cover = (x + z) % 4 == 0 || place_hash(x, z) % 7 == 0 ? b.cobble : b.paving;
            else if (road && top == 0)
                cover = place_hash(x, z) % 5 ? b.path : b.cobble;
            for (int y = int(DemoTown::kGround); y < top; y++)
                g.set({x, y, z}, y == top - 1 ? cover : b.earth);
            if (stream) g.set({x, top, z}, b.water);
        }
}

}  // namespace

DemoTown make_demo_town(BlockTable& table) {
    const TownBlocks b(table);
    DemoTown town{Grid(table), {}};
    make_terrain(town.terrain, b);
    auto add = [&](std::string name, Grid grid, int x, int y, int z) {
        town.buildings.push_back({std::move(name), std::move(grid), {double(x), double(y), double(z)}});
    };
    const House houses[] = {
        {"town hall", 65, 10, 12, 9, 3, b.limestone, b.brick, b.limestone, &b.slate, true, false, 1},
        {"inn", 25, 12, 10, 9, 3, b.cobble, b.cream, b.timber, &b.tiles, true, true, 1},
        {"brick house", 37, 12, 8, 9, 3, b.brick, b.brick, b.dark_brick, &b.slate, false, false, 1},
        {"bakery", 53, 12, 9, 9, 2, b.cobble, b.ochre, b.timber, &b.tiles, false, true, 1},
        {"smithy", 79, 14, 9, 8, 2, b.dark_stone, b.ochre_brick, b.dark_stone, &b.slate, true, false, 1},
        {"rose house", 70, 24, 9, 8, 2, b.limestone, b.rose, b.limestone, &b.tiles, true, false, 2},
        {"weaver's house", 71, 39, 8, 9, 2, b.cobble, b.blue, b.timber, &b.thatch, false, true, 2},
        {"corner house", 57, 48, 10, 9, 3, b.limestone, b.ochre_brick, b.limestone, &b.tiles, true, false, 0},
        {"miller's house", 34, 48, 9, 8, 2, b.cobble, b.cream, b.timber, &b.thatch, true, true, 0},
        {"dyer's house", 22, 48, 9, 9, 2, b.brick, b.rose, b.dark_brick, &b.slate, false, false, 0},
        {"gate house", 83, 36, 8, 8, 2, b.cobble, b.ochre, b.timber, &b.tiles, true, true, 2},
        {"barn", 70, 51, 12, 9, 2, b.cobble, b.planks, b.timber, &b.thatch, true, true, 0},
    };
    for (const House& house : houses) add(house.name, make_house(table, b, house), house.x, 0, house.z);
    add("church", make_church(table, b), 8, 0, 16);
    add("gate", make_gate(table, b), 42, 0, 2);
    add("west wall", make_wall(table, b, 34), 7, 0, 3);
    add("east wall", make_wall(table, b, 34), 57, 0, 3);
    add("bridge", make_bridge(table, b, {46, kBed + 1, 59}), 46, kBed + 1, 59);
    add("fountain", make_fountain(table, b), 46, 0, 31);
    add("red stall", make_stall(table, b, b.tiles.full, b.cream), 36, 0, 28);
    add("blue stall", make_stall(table, b, b.blue, b.cream), 36, 0, 40);
    add("ochre stall", make_stall(table, b, b.ochre, b.cream), 56, 0, 28);
    static constexpr struct {
        int x, z, height, radius, kind;
    } kTrees[] = {{43, 30, 4, 2, 1}, {55, 40, 4, 2, 1}, {43, 40, 3, 2, 2}, {60, 33, 4, 2, 1},
                  {5, 12, 5, 3, 0},  {24, 30, 5, 3, 3}, {25, 40, 4, 3, 0}, {13, 57, 5, 3, 2},
                  {66, 60, 4, 2, 3}, {90, 28, 5, 3, 0}, {88, 50, 4, 3, 3}, {38, 82, 5, 3, 0},
                  {30, 83, 4, 2, 1}, {58, 83, 5, 3, 3}, {66, 82, 4, 2, 2}, {24, 79, 4, 2, 3},
                  {73, 84, 5, 3, 0}, {91, 10, 4, 2, 2}, {10, 48, 4, 2, 1}, {63, 23, 3, 2, 1}};
    for (const auto& t : kTrees)
        add("tree", make_tree(table, b, t.height, t.radius, b.leaves[t.kind]), t.x, surface(t.x, t.z), t.z);
    return town;
}

LevelSettings demo_town_settings() {
    LevelSettings settings;
    settings.ground = DemoTown::kGround;
    settings.floor = DemoTown::kGround;
    return settings;
}

void build_demo_town(Level& level) {
    DemoTown town = make_demo_town(level.table());
    town.terrain.for_each([&](Cell cell, BlockId id) { level.set_terrain(cell, id); });
    for (DemoTown::Building& building : town.buildings) {
        GroupSettings settings;
        settings.pose.position = building.position;
        settings.bears_load = true;
        settings.asleep = true;
        level.check_structure_soon(level.add_group(std::move(building.grid), settings));
    }
}

}  // namespace talus
