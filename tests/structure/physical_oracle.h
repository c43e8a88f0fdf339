// physical_oracle.h - the balance of a lattice in its plainest form: springs written out as vectors, all in
// double, conjugate gradients with the inverse of each block's own stiffness as preconditioner. The solver
// must give the same forces.
#pragma once

#include "talus/structure.h"

#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace talus::physical_oracle {

struct Motion {
    DVec3 u, theta;
};

class Oracle {
 public:
    Oracle(std::span<const StructureBlock> blocks, std::span<const StructureMaterial> materials, DVec3 up) {
        double stiffest = 0;
        for (const StructureMaterial& m : materials) stiffest = std::max(stiffest, m.stiffness);
        for (const StructureBlock& b : blocks) {
            index_[key(b.cell)] = blocks_.size();
            blocks_.push_back(b);
        }
        for (std::size_t i = 0; i < blocks_.size(); i++)
            for (const Cell step : {Cell{1, 0, 0}, Cell{0, 1, 0}, Cell{0, 0, 1}}) {
                const auto j = index_.find(key(blocks_[i].cell + step));
                if (j == index_.end()) continue;
                const double a = materials[blocks_[i].material].stiffness / stiffest;
                const double b = materials[blocks_[j->second].material].stiffness / stiffest;
                springs_.push_back(
                    {i, j->second, {double(step.x), double(step.y), double(step.z)}, 2 / (1 / a + 1 / b)});
            }
        std::vector<Motion> f(blocks_.size());
        for (std::size_t i = 0; i < blocks_.size(); i++)
            if (!blocks_[i].support) f[i].u = up * -blocks_[i].mass;
        solve(f);
    }

    /// What `second` does to `first` at the middle of their face.
    BondForce force(Bond bond) const {
        for (const Spring& s : springs_) {
            if (blocks_[s.low].cell == bond.first && blocks_[s.high].cell == bond.second)
                return {bond, pull(s, x_).u, pull(s, x_).theta};
            if (blocks_[s.high].cell == bond.first && blocks_[s.low].cell == bond.second)
                return {bond, pull(s, x_).u * -1.0, pull(s, x_).theta * -1.0};
        }
        return {};
    }
    bool converged = false;

 private:
    struct Spring {
        std::size_t low, high;
        DVec3 normal;
        double scale;
    };
    static std::tuple<int, int, int> key(Cell c) { return {c.x, c.y, c.z}; }

    // Force and moment on the low block at the face.
    Motion pull(const Spring& s, const std::vector<Motion>& x) const {
        const DVec3 half = s.normal * 0.5;
        const DVec3 low = x[s.low].u + cross(x[s.low].theta, half);
        const DVec3 high = x[s.high].u - cross(x[s.high].theta, half);
        const DVec3 gap = high - low, turn = x[s.high].theta - x[s.low].theta;
        const DVec3 along = s.normal * dot(gap, s.normal), twist = s.normal * dot(turn, s.normal);
        const double shear_modulus = 1 / (2 * (1 + 0.2));
        return {(along + (gap - along) * (shear_modulus * 5 / 6)) * s.scale,
                (twist * (shear_modulus * 0.1405770) + (turn - twist) / 12.0) * s.scale};
    }
    void apply(const std::vector<Motion>& x, std::vector<Motion>& y) const {
        y.assign(x.size(), {});
        for (const Spring& s : springs_) {
            const Motion f = pull(s, x);
            const DVec3 half = s.normal * 0.5;
            y[s.low].u -= f.u;
            y[s.low].theta -= f.theta + cross(half, f.u);
            y[s.high].u += f.u;
            y[s.high].theta += f.theta - cross(half, f.u);
        }
        for (std::size_t i = 0; i < x.size(); i++)
            if (blocks_[i].support) y[i] = {};
    }
    static double product(const std::vector<Motion>& a, const std::vector<Motion>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); i++) sum += dot(a[i].u, b[i].u) + dot(a[i].theta, b[i].theta);
        return sum;
    }
    void solve(const std::vector<Motion>& f) {
        const std::size_t n = f.size();
        x_.assign(n, {});
        // The diagonal alone: plainer than blocks, and enough for small cases.
        std::vector<Motion> diagonal(n), r = f, z(n), p, q;
        for (std::size_t i = 0; i < n; i++) diagonal[i] = {{1e-9, 1e-9, 1e-9}, {1e-9, 1e-9, 1e-9}};
        for (const Spring& s : springs_)
            for (const std::size_t i : {s.low, s.high})
                for (int a = 0; a < 3; a++) {
                    const bool normal = s.normal[a] != 0;
                    diagonal[i].u[a] += s.scale * (normal ? 1 : 0.347);
                    diagonal[i].theta[a] += s.scale * (normal ? 0.0586 : 1.0 / 12 + 0.0868);
                }
        const double goal = 1e-11 * std::sqrt(product(f, f));
        double rz = 0;
        for (int it = 0; it < 40000; it++) {
            for (std::size_t i = 0; i < n; i++)
                for (int a = 0; a < 3; a++) {
                    z[i].u[a] = r[i].u[a] / diagonal[i].u[a];
                    z[i].theta[a] = r[i].theta[a] / diagonal[i].theta[a];
                }
            const double now = product(r, z);
            if (std::sqrt(product(r, r)) <= goal) {
                converged = true;
                return;
            }
            if (it == 0)
                p = z;
            else
                for (std::size_t i = 0; i < n; i++) {
                    p[i].u = z[i].u + p[i].u * (now / rz);
                    p[i].theta = z[i].theta + p[i].theta * (now / rz);
                }
            rz = now;
            apply(p, q);
            const double alpha = rz / product(p, q);
            for (std::size_t i = 0; i < n; i++) {
                x_[i].u += p[i].u * alpha;
                x_[i].theta += p[i].theta * alpha;
                r[i].u -= q[i].u * alpha;
                r[i].theta -= q[i].theta * alpha;
            }
        }
    }

    std::vector<StructureBlock> blocks_;
    std::map<std::tuple<int, int, int>, std::size_t> index_;
    std::vector<Spring> springs_;
    std::vector<Motion> x_;
};

}  // namespace talus::physical_oracle
