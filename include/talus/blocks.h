// blocks.h - what a block can be: materials, shapes and the table that numbers them.
//
// Layer: grid. SI units. A shape's frame is its cell: the unit cube [0, 1]^3 times the cell size.
// A BlockTable only grows, so a BlockId stays valid for the life of its table.
// Tests: tests/grid/blocks_test.cpp
#pragma once

#include "talus/math.h"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace talus {

/// Index into a BlockTable. 0 is air.
using BlockId = std::uint16_t;
constexpr BlockId kAir = 0;
constexpr int kMaxBlockTypes = 65535;

struct Material {
    std::string name = "stone";
    float density = 2600;        ///< kg/m^3
    float hardness = 1.5f;       ///< of block games; negative: unbreakable
    float blast_resistance = 6;  ///< of block games
    float friction = 0.6f;       ///< Coulomb coefficient
    float restitution = 0.15f;   ///< share of the speed kept in a bounce
    float flammability = 0;      ///< 0 never burns .. 1 burns at once
    bool solid = true;           ///< false: no collision, hangs on a solid (torch, plant)
    bool soft = false;           ///< leaves: bodies of the fall-through layer pass
    bool floats = false;
    std::uint32_t color = 0x808080;  ///< 0xRRGGBB, as seen from outside
    // Of the physical structural check, Pa. Tension and cohesion 0: dry joints.
    float stiffness = 50e9f;     ///< Young's modulus
    float tension = 7e6f;        ///< at the edge of a face
    float compression = 130e6f;  ///< at the edge of a face
    float cohesion = 14e6f;      ///< shear without pressure; `friction` times pressure comes on top

    friend bool operator==(const Material&, const Material&) = default;
};

/// Strength of the load rule: hardness clamped to 0.2..10, divided by 1.5; unbreakable counts as hardness 10.
float strength_of(const Material& material);

/// A solid shape inside one cell, made of boxes. Boxes given may overlap: they are cut into disjoint ones.
class BlockShape {
 public:
    /// The full cube.
    BlockShape();
    /// Union of boxes in [0,1]^3; parts outside are cut off. An empty union is a shape of volume 0.
    explicit BlockShape(std::span<const Box> boxes);

    bool is_full_cube() const { return full_; }
    std::span<const Box> boxes() const { return boxes_; }  ///< disjoint
    double volume() const { return volume_; }              ///< share of the cell, 0..1
    DVec3 first_moment() const { return first_; }          ///< integral of r over the shape, cell units
    /// Integral of r_i r_j over the shape, cell units: xx yy zz xy yz zx.
    std::span<const double, 6> second_moment() const { return second_; }

    friend bool operator==(const BlockShape& a, const BlockShape& b) { return a.boxes_ == b.boxes_; }

 private:
    std::vector<Box> boxes_;
    double volume_ = 0;
    DVec3 first_;
    double second_[6] = {};
    bool full_ = false;
};

struct BlockType {
    std::string name;  ///< with its state, e.g. "minecraft:oak_stairs[facing=east]"
    Material material;
    BlockShape shape;

    friend bool operator==(const BlockType&, const BlockType&) = default;
};

/// Numbers block types. Append only; equal types share one id.
class BlockTable {
 public:
    /// What grids ask of a type many million times, kept apart from names and shapes.
    struct Flags {
        bool solid = false;
        bool full_cube = false;  ///< solid, a full cube and not soft: hides the face of its neighbour
        bool soft = false;
    };

    BlockTable();
    BlockTable(const BlockTable&) = delete;  // grids point here
    BlockTable& operator=(const BlockTable&) = delete;

    /// @return the id, that of an equal type when there is one; kAir when the table is full (65,535 types)
    BlockId add(const BlockType& type);
    /// A full cube of this material, named after it.
    BlockId add(const Material& material);

    /// Pre (assert): id < size().
    const BlockType& operator[](BlockId id) const { return types_[id]; }
    const Flags& flags(BlockId id) const { return flags_[id]; }
    std::size_t size() const { return types_.size(); }

 private:
    std::deque<BlockType> types_;  // a deque: references stay valid as it grows
    std::vector<Flags> flags_;
    std::multimap<std::string, BlockId, std::less<>> by_name_;
};

/// The built-in set *real*: stone, bricks, planks, plaster, slate, copper, wood, glass, concrete, steel,
/// sand, earth, ice, leaves.
std::span<const Material> real_materials();
/// @return nullptr when there is none of that name
const Material* find_real_material(std::string_view name);
/// Stone as block games know it: exactly 775 kg a cubic metre, hardness 1.5, strength 1, blast resistance 6.
const Material& blockgame_stone();

}  // namespace talus
