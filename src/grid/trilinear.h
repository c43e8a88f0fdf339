// trilinear.h - eight samples at the corners of a cell, blended between them.
//
// Layer: grid. No state. Used by the density field and by the mesher of its surface.
// Source: the blend is linear along each axis in turn; the slope is its derivative.
// Tests: tests/terrain/density_field_test.cpp, tests/mesh/surface_nets_test.cpp
#pragma once

#include "talus/math.h"

namespace talus {

struct Trilinear {
    float corner[8];  ///< x + 2 y + 4 z
    Vec3 at;          ///< within the cell, 0..1

    float value() const {
        const float* c = corner;
        return mix(square(c[0], c[1], c[2], c[3], at.x, at.y), square(c[4], c[5], c[6], c[7], at.x, at.y),
                   at.z);
    }
    Vec3 slope() const {  ///< for one cell
        const float* c = corner;
        return {square(c[1] - c[0], c[3] - c[2], c[5] - c[4], c[7] - c[6], at.y, at.z),
                square(c[2] - c[0], c[3] - c[1], c[6] - c[4], c[7] - c[5], at.x, at.z),
                square(c[4] - c[0], c[5] - c[1], c[6] - c[2], c[7] - c[3], at.x, at.y)};
    }

 private:
    static float mix(float p, float q, float t) { return p + (q - p) * t; }
    static float square(float c00, float c10, float c01, float c11, float s, float t) {
        return mix(mix(c00, c10, s), mix(c01, c11, s), t);
    }
};

}  // namespace talus
