// group_mass.h - mass, centre and inertia of a group of blocks.
//
// Layer: mass. No state, no allocation, thread-safe.
// Units: SI. Frame: the group's grid, right-handed, +Y up; origin = minimum corner of cell (0,0,0).
// Determinism: sums run in brick order (or the order given), in double, without fused multiply-add.
// Source: D. Cline, Variational Principles in Classical Mechanics, 2nd ed., ch. 13: parallel-axis theorem,
// and
//   example 13.1 (solid cube about its centre, I = m s^2/6); the integrals of a cut shape come from
//   BlockShape.
// Tests: tests/mass/group_mass_test.cpp
#pragma once

#include "talus/grid.h"
#include "talus/math.h"
#include "talus/result.h"

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

/// Moments of one block, of any shape; zero for air.
/// Pre (assert): |cell| <= 65536 on each axis (further out, cancellation spoils the inertia).
MassMoments block_moments(Cell cell, const BlockType& type, float cell_size);

/// Moments of every block of a grid, O(blocks).
MassMoments sum_moments(const Grid& grid, float cell_size);

/// For merging groups or placing a block.
void add(MassMoments& total, const MassMoments& part);

/// total -= part, where `part` was added before. Rounding stays at the scale of the largest total so far:
/// rebuild with sum_moments() once half the mass is gone.
void subtract(MassMoments& total, const MassMoments& part);

/// c = first/mass; S = second - mass c c^T; I = trace(S) Id - S.
Result<MassProperties, MassError> to_mass_properties(const MassMoments& moments);

/// Finite, mass > 0, diagonal > 0, and Ixx + Iyy >= Izz (cyclic, to 1e-6 relative). For tests and validation.
bool is_valid(const MassProperties& properties);

}  // namespace talus
