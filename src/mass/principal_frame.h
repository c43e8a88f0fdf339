// principal_frame.h - the axes about which a rigid body spins freely.
//
// Layer: mass. SI units.
// Determinism: Jacobi rotations that use sqrt and division only (the arc functions of C libraries differ).
// Source: G. Golub, C. Van Loan, Matrix Computations, 8.5 (symmetric Schur decomposition).
// Tests: tests/mass/group_mass_test.cpp
#pragma once

#include "mass/group_mass.h"
#include "talus/math.h"

namespace talus {

struct PrincipalFrame {
    Mat3 axes;     ///< column k = principal axis k, right-handed
    Vec3 moments;  ///< kg m^2, in the order of the axes
};
PrincipalFrame principal_frame(const Inertia& inertia);

}  // namespace talus
