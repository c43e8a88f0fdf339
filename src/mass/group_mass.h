// group_mass.h - mass, centre and inertia of groups of blocks and of boxes.
//
// Layer: mass. Thread-safe for reading.
// Units: SI. Frame: the group's grid, right-handed, +Y up; origin = minimum corner of cell (0,0,0).
// Determinism: blocks are counted by type in whole numbers (BlockSums), so any order of edits ends in the
// same bits and nothing drifts. A running total in floating point was rejected: it depends on its history,
// and a group of which most is gone keeps the rounding of what it once was. Source: D. Cline, Variational
// Principles in Classical Mechanics, 2nd ed., ch. 13: parallel-axis theorem,
//   and example 13.1 (solid cube about its centre, I = m s^2/6); the integrals of a cut shape come from
//   BlockShape.
// Tests: tests/mass/group_mass_test.cpp
#pragma once

#include "talus/grid.h"
#include "talus/math.h"
#include "talus/result.h"

#include <utility>
#include <vector>

namespace talus {

/// Moments about the group's origin. Additive: merging two groups that share an origin adds every field.
struct MassMoments {
    double mass = 0;        ///< sum m, kg
    double first[3] = {};   ///< sum m r_i, kg m; x y z
    double second[6] = {};  ///< sum m r_i r_j, kg m^2; xx yy zz xy yz zx
};

/// What a rigid body needs. Every field is finite; mass > 0.
struct MassProperties {
    double mass = 0;  ///< kg
    DVec3 center;     ///< centre of mass, group frame, m
    SymMat3 inertia;  ///< about `center`, group axes, kg m^2; positive definite
};

enum class MassError : std::uint8_t {
    empty_group,  ///< zero mass: delete the group, make no body
    not_finite,   ///< a density or cell outside any sense: reject the edit
};

/// The blocks of a group, counted: how many of each type, and the sums of their cells' coordinates. What they
/// weigh follows from that.
class BlockSums {
 public:
    /// Pre (assert): |cell| <= 65536 on each axis (further out, the sums of a million blocks overflow).
    void add(Cell cell, BlockId id, const BlockType& type);
    /// Nothing when there is no block of this type. Pre: one was added there.
    void remove(Cell cell, BlockId id);
    void add(const Grid& grid);

    MassMoments moments(float cell_size) const;
    double volume(float cell_size) const;  ///< of all blocks, m^3
    /// Of the solid ones, by volume; `otherwise` when there are none.
    float mean_friction(float otherwise) const;

    /// As many of each type, with the same sums.
    bool operator==(const BlockSums& other) const;

    struct OfType {
        BlockId id = kAir;
        bool solid = false;
        float friction = 0;
        double density = 0, volume = 0;  // of one block, kg/m^3 and share of a cell
        double first[3] = {}, second[6] = {};
        // Whole numbers, modulo 2^64: count, sum c_i, sum c_i c_j (xx yy zz xy yz zx).
        std::uint64_t count = 0, cells[3] = {}, squares[6] = {};
    };
    /// By id; none of which there are no blocks.
    const std::vector<OfType>& types() const { return types_; }
    void set_types(std::vector<OfType> types) { types_ = std::move(types); }

 private:
    OfType& of_type(BlockId id, const BlockType& type);
    /// n cells in a row along x, from `cell` on.
    static void add_row(OfType& sums, Cell cell, int n);

    std::vector<OfType> types_;
    std::size_t last_ = 0;  // found last: edits come in runs of one type
};

/// Moments of every block of a grid, O(blocks).
MassMoments sum_moments(const Grid& grid, float cell_size);

/// Moments of a box.
MassMoments box_moments(DVec3 lo, DVec3 hi, double density);
/// Of a ball of density 1 swept from -half_length to half_length along y, about its middle.
MassMoments capsule_moments(double radius, double half_length);

/// For merging groups.
void add(MassMoments& total, const MassMoments& part);

/// Inertia about the centre of mass, in double: xx yy zz xy yz zx. Zero for no mass.
struct Inertia {
    double v[6] = {};
};
Inertia inertia_about_center(const MassMoments& moments);

/// c = first/mass; S = second - mass c c^T; I = trace(S) Id - S.
Result<MassProperties, MassError> to_mass_properties(const MassMoments& moments);

/// Finite, mass > 0, diagonal > 0, and Ixx + Iyy >= Izz (cyclic, to 1e-6 relative). For tests and validation.
bool is_valid(const MassProperties& properties);

}  // namespace talus
