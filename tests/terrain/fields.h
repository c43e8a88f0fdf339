// fields.h - densities with known answers, for tests of smooth ground.
#pragma once

#include "talus/density_field.h"

#include <atomic>

namespace talus {

/// Ground under a plane through `point` with this unit way out.
struct PlaneSource : DensitySource {
    DVec3 point;
    Vec3 out{0, 1, 0};
    double cell_size = 1;
    mutable std::atomic<int> asked{0};
    explicit PlaneSource(Vec3 way_out = {0, 1, 0}, DVec3 through = {}, double cell = 1)
        : point(through), out(normalized(way_out)), cell_size(cell) {}
    float density_at(Cell s) const override {
        asked++;
        const DVec3 p = DVec3{double(s.x), double(s.y), double(s.z)} * cell_size - point;
        return float(-dot(p, to_double(out)));
    }
};

struct BallSource : DensitySource {
    DVec3 center;
    double radius;
    BallSource(DVec3 c, double r) : center(c), radius(r) {}
    float density_at(Cell s) const override {
        return float(radius - length(DVec3{double(s.x), double(s.y), double(s.z)} - center));
    }
};

/// A bowl: y = (x^2 + z^2) / (2 r), to first order.
struct BowlSource : DensitySource {
    double radius, cell_size;
    explicit BowlSource(double r, double cell = 1) : radius(r), cell_size(cell) {}
    float density_at(Cell s) const override {
        const double x = s.x * cell_size, y = s.y * cell_size, z = s.z * cell_size;
        return float((x * x + z * z) / (2 * radius) - y);
    }
};

}  // namespace talus
