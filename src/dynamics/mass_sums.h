// mass_sums.h - mass, centre and inertia of boxes and blocks, and the principal frame of an inertia.
//
// Layer: dynamics. SI units; sums in double about the shape's own origin, so they add up.
// Determinism: sums in the order given; the principal frame by Jacobi rotations that use sqrt and division
// only (the arc functions of C libraries differ).
// Source: G. Golub, C. Van Loan, Matrix Computations, 8.5 (symmetric Schur decomposition);
//   parallel axes: D. Cline, Variational Principles in Classical Mechanics, 2nd ed., ch. 13.
// Tests: tests/dynamics/shape_test.cpp
#pragma once

#include "talus/blocks.h"
#include "talus/math.h"

namespace talus {

/// Integrals of density * (1, r_i, r_i r_j). Adding two about one origin adds every field.
struct MassSums {
    double mass = 0;        ///< kg
    DVec3 first;            ///< kg m
    double second[6] = {};  ///< kg m^2: xx yy zz xy yz zx

    MassSums& operator+=(const MassSums& b);
    MassSums scaled(double factor) const;
};

/// A box of density 1.
MassSums sums_of_box(DVec3 lo, DVec3 hi);
/// A ball of density 1 swept from -half_length to half_length along y, about its middle.
MassSums sums_of_capsule(double radius, double half_length);
/// A block of this shape and density whose cell begins at `origin`, metres.
MassSums sums_of_block(const BlockShape& shape, double density, DVec3 origin, double cell_size);

/// Inertia about the centre of mass, in double: xx yy zz xy yz zx.
struct Inertia {
    double v[6] = {};
};
Inertia inertia_about_center(const MassSums& sums);

struct PrincipalFrame {
    Mat3 axes;     ///< column k = principal axis k, right-handed
    Vec3 moments;  ///< kg m^2, in the order of the axes
};
PrincipalFrame principal_frame(const Inertia& inertia);

}  // namespace talus
