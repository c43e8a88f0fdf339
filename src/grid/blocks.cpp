#include "talus/blocks.h"

#include <algorithm>
#include <cassert>

namespace talus {

float strength_of(const Material& material) {
    const float hardness = material.hardness < 0 ? 10.0f : std::clamp(material.hardness, 0.2f, 10.0f);
    return hardness / 1.5f;
}

namespace {

/// Distinct coordinates at which any box begins or ends on one axis.
std::vector<float> cuts_on_axis(std::span<const Box> boxes, int axis) {
    std::vector<float> cuts;
    for (const Box& b : boxes) {
        cuts.push_back(b.min[axis]);
        cuts.push_back(b.max[axis]);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
}

/// The union of the boxes as few disjoint boxes: cut at every border, then merged greedily along x, z, y.
std::vector<Box> disjoint_union(std::span<const Box> boxes) {
    const std::vector<float> cx = cuts_on_axis(boxes, 0), cy = cuts_on_axis(boxes, 1),
                             cz = cuts_on_axis(boxes, 2);
    const std::size_t nx = cx.size() - 1, ny = cy.size() - 1, nz = cz.size() - 1;
    std::vector<char> inside(nx * ny * nz, 0);
    auto at = [&](std::size_t x, std::size_t y, std::size_t z) -> char& {
        return inside[(y * nz + z) * nx + x];
    };
    for (std::size_t y = 0; y < ny; y++)
        for (std::size_t z = 0; z < nz; z++)
            for (std::size_t x = 0; x < nx; x++)
                for (const Box& b : boxes)
                    if (b.min.x <= cx[x] && b.max.x >= cx[x + 1] && b.min.y <= cy[y] &&
                        b.max.y >= cy[y + 1] && b.min.z <= cz[z] && b.max.z >= cz[z + 1])
                        at(x, y, z) = 1;

    std::vector<Box> out;
    for (std::size_t y = 0; y < ny; y++)
        for (std::size_t z = 0; z < nz; z++)
            for (std::size_t x = 0; x < nx; x++) {
                if (!at(x, y, z)) continue;
                std::size_t x1 = x + 1, y1 = y + 1, z1 = z + 1;
                auto row_filled = [&](std::size_t yy, std::size_t zz) {
                    for (std::size_t i = x; i < x1; i++)
                        if (!at(i, yy, zz)) return false;
                    return true;
                };
                auto sheet_filled = [&](std::size_t yy) {
                    for (std::size_t k = z; k < z1; k++)
                        if (!row_filled(yy, k)) return false;
                    return true;
                };
                while (x1 < nx && at(x1, y, z)) x1++;
                while (z1 < nz && row_filled(y, z1)) z1++;
                while (y1 < ny && sheet_filled(y1)) y1++;
                for (std::size_t j = y; j < y1; j++)
                    for (std::size_t k = z; k < z1; k++)
                        for (std::size_t i = x; i < x1; i++) at(i, j, k) = 0;
                out.push_back({{cx[x], cy[y], cz[z]}, {cx[x1], cy[y1], cz[z1]}});
            }
    return out;
}

constexpr Box kUnitBox{{0, 0, 0}, {1, 1, 1}};

}  // namespace

BlockShape::BlockShape() : BlockShape(std::span<const Box>(&kUnitBox, 1)) {}

BlockShape::BlockShape(std::span<const Box> given) {
    std::vector<Box> clipped;
    for (const Box& b : given) {
        const Box c{max(b.min, Vec3{0, 0, 0}), min(b.max, Vec3{1, 1, 1})};
        if (c.min.x < c.max.x && c.min.y < c.max.y && c.min.z < c.max.z) clipped.push_back(c);
    }
    if (clipped.empty()) return;
    boxes_ = disjoint_union(clipped);
    full_ = boxes_.size() == 1 && boxes_[0] == kUnitBox;
    // Integrals of 1, r_i and r_i r_j over each box, exact.
    for (const Box& b : boxes_) {
        const double lo[3] = {b.min.x, b.min.y, b.min.z}, hi[3] = {b.max.x, b.max.y, b.max.z};
        double l[3], m[3], s[3];  // integrals of 1, t, t^2 along each axis
        for (int k = 0; k < 3; k++) {
            l[k] = hi[k] - lo[k];
            m[k] = (hi[k] * hi[k] - lo[k] * lo[k]) / 2;
            s[k] = (hi[k] * hi[k] * hi[k] - lo[k] * lo[k] * lo[k]) / 3;
        }
        volume_ += l[0] * l[1] * l[2];
        first_ += DVec3{m[0] * l[1] * l[2], l[0] * m[1] * l[2], l[0] * l[1] * m[2]};
        second_[0] += s[0] * l[1] * l[2];
        second_[1] += l[0] * s[1] * l[2];
        second_[2] += l[0] * l[1] * s[2];
        second_[3] += m[0] * m[1] * l[2];
        second_[4] += l[0] * m[1] * m[2];
        second_[5] += m[0] * l[1] * m[2];
    }
}

BlockTable::BlockTable() {
    BlockType air;
    air.name = "air";
    air.material = {
        .name = "air", .density = 0, .hardness = 0, .blast_resistance = 0, .solid = false, .color = 0};
    air.shape = BlockShape(std::span<const Box>{});
    types_.push_back(air);
    flags_.push_back({});
    by_name_.emplace(air.name, kAir);
}

BlockId BlockTable::add(const BlockType& type) {
    const auto [first, last] = by_name_.equal_range(type.name);
    for (auto it = first; it != last; ++it)
        if (types_[it->second] == type) return it->second;
    if (types_.size() > std::size_t(kMaxBlockTypes)) return kAir;
    const auto id = BlockId(types_.size());
    types_.push_back(type);
    // A shape without volume cannot be touched, whatever its material says.
    const bool solid = type.material.solid && type.shape.volume() > 0;
    flags_.push_back({solid, solid && type.shape.is_full_cube() && !type.material.soft, type.material.soft});
    by_name_.emplace(type.name, id);
    return id;
}

BlockId BlockTable::add(const Material& material) {
    return add(BlockType{material.name, material, BlockShape()});
}

namespace {

// Densities of stone, bricks, planks, plaster, slate and copper are those of the specification. The others
// are handbook values of the bulk material; hardness and blast resistance follow the familiar block of that
// kind. Strengths are of the bulk material, lasting load, without safety factors:
//   stone, slate      granite and roof slate: Goodman, Introduction to Rock Mechanics, tables 3.1 and 3.3
//   (mid range) bricks            masonry with its mortar: EN 1996-1-1, 3.6 and 3.7.2 (E = 1000 f_k kept at 5
//   GPa) planks, wood      softwood C24: EN 338 concrete          C25/30: EN 1992-1-1, table 3.1 steel,
//   copper     S235: EN 1993-1-1, table 3.1 (shear f_y / sqrt 3); half-hard copper: EN 1172 glass EN 572-1
//   (E), 45 MPa short term and two thirds of it for lasting load: EN 16612 plaster           gypsum plaster
//   B: EN 13279-1, and its usual E sand, earth       damp sand, whose suction holds little; rammed earth: NZS
//   4298, and Walker et al. (2005) ice               Petrovic, "Mechanical properties of ice and snow", J.
//   Mater. Sci. 38 (2003) leaves            ours: twigs that hold themselves
const Material kReal[] = {
    {.name = "stone", .density = 2600, .hardness = 1.5f, .blast_resistance = 6, .color = 0x8a8a8a},
    {.name = "bricks",
     .density = 1900,
     .hardness = 2.0f,
     .blast_resistance = 6,
     .color = 0x96604f,
     .stiffness = 5e9f,
     .tension = 0.4e6f,
     .compression = 8e6f,
     .cohesion = 0.3e6f},
    {.name = "planks",
     .density = 600,
     .hardness = 2.0f,
     .blast_resistance = 3,
     .flammability = 0.5f,
     .floats = true,
     .color = 0xa98a56,
     .stiffness = 11e9f,
     .tension = 14e6f,
     .compression = 21e6f,
     .cohesion = 4e6f},
    {.name = "plaster",
     .density = 1500,
     .hardness = 0.8f,
     .blast_resistance = 1,
     .color = 0xe6e1d6,
     .stiffness = 3e9f,
     .tension = 1e6f,
     .compression = 6e6f,
     .cohesion = 1.5e6f},
    {.name = "slate",
     .density = 2800,
     .hardness = 3.0f,
     .blast_resistance = 6,
     .color = 0x50525a,
     .stiffness = 60e9f,
     .tension = 10e6f,
     .compression = 120e6f,
     .cohesion = 15e6f},
    {.name = "copper",
     .density = 8900,
     .hardness = 3.0f,
     .blast_resistance = 6,
     .color = 0xb87333,
     .stiffness = 120e9f,
     .tension = 200e6f,
     .compression = 200e6f,
     .cohesion = 115e6f},
    {.name = "wood",
     .density = 700,
     .hardness = 2.0f,
     .blast_resistance = 2,
     .flammability = 0.4f,
     .floats = true,
     .color = 0x6b5132,
     .stiffness = 11e9f,
     .tension = 14e6f,
     .compression = 21e6f,
     .cohesion = 4e6f},
    {.name = "glass",
     .density = 2500,
     .hardness = 0.3f,
     .blast_resistance = 0.3f,
     .friction = 0.4f,
     .color = 0xc8e6ee,
     .stiffness = 70e9f,
     .tension = 30e6f,
     .compression = 500e6f,
     .cohesion = 30e6f},
    {.name = "concrete",
     .density = 2400,
     .hardness = 1.8f,
     .blast_resistance = 6,
     .color = 0xb4b4ae,
     .stiffness = 31e9f,
     .tension = 2.6e6f,
     .compression = 25e6f,
     .cohesion = 4e6f},
    {.name = "steel",
     .density = 7850,
     .hardness = 5.0f,
     .blast_resistance = 6,
     .friction = 0.5f,
     .color = 0x9aa3ab,
     .stiffness = 210e9f,
     .tension = 235e6f,
     .compression = 235e6f,
     .cohesion = 136e6f},
    {.name = "sand",
     .density = 1600,
     .hardness = 0.5f,
     .blast_resistance = 0.5f,
     .restitution = 0.05f,
     .color = 0xdbd3a0,
     .stiffness = 0.05e9f,
     .tension = 2e3f,
     .compression = 0.3e6f,
     .cohesion = 2e3f},
    {.name = "earth",
     .density = 1500,
     .hardness = 0.5f,
     .blast_resistance = 0.5f,
     .restitution = 0.05f,
     .color = 0x7a5a3c,
     .stiffness = 0.1e9f,
     .tension = 0.1e6f,
     .compression = 1e6f,
     .cohesion = 0.1e6f},
    {.name = "ice",
     .density = 917,
     .hardness = 0.5f,
     .blast_resistance = 0.5f,
     .friction = 0.05f,
     .floats = true,
     .color = 0xa5c8f0,
     .stiffness = 9e9f,
     .tension = 1e6f,
     .compression = 5e6f,
     .cohesion = 1e6f},
    {.name = "leaves",
     .density = 100,
     .hardness = 0.2f,
     .blast_resistance = 0.2f,
     .flammability = 0.6f,
     .soft = true,
     .floats = true,
     .color = 0x4c7a34,
     .stiffness = 0.01e9f,
     .tension = 50e3f,
     .compression = 50e3f,
     .cohesion = 50e3f},
};

}  // namespace

std::span<const Material> real_materials() { return kReal; }

const Material* find_real_material(std::string_view name) {
    for (const Material& m : kReal)
        if (m.name == name) return &m;
    return nullptr;
}

const Material& blockgame_stone() {
    static const Material stone = [] {
        Material m = kReal[0];
        m.density = 775;
        return m;
    }();
    return stone;
}

}  // namespace talus
