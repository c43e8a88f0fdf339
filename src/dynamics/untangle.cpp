#include "dynamics/untangle.h"

#include "dynamics/body_store.h"

namespace talus {

namespace {

constexpr float kBeside = -0.01f;  // separation from which two boxes pass each other

/// Does a way along face axis k (of a, then of b) lead past the other box? Only what lies across it can tell:
/// the other faces of that box, and its edge k with each edge of the other.
bool passes_by(const SharedAxes::Separations& s, int k) {
    const int first = k < 3 ? 0 : 3, own = k - first;
    for (int j = 0; j < 3; j++) {
        if (j != own && s.distance[first + j] > kBeside) return true;
        if (s.distance[6 + (k < 3 ? 3 * own + j : 3 * j + own)] > kBeside) return true;
    }
    return false;
}

}  // namespace

void untangle(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
              const SharedAxes& axes, std::vector<ContactPoint>& points) {
    std::size_t deepest = 0;
    for (std::size_t i = 1; i < points.size(); i++)
        if (points[i].separation < points[deepest].separation) deepest = i;
    if (points.empty() || points[deepest].separation > -kTangled) return;

    // What of a lies where b is. Pieces are all there; of big shapes, whose parts far away do not matter.
    const Vec3 center = turn * ((b.lo + b.hi) * 0.5f) + offset,
               extent = extent_of(turn, (b.hi - b.lo) * 0.5f);
    std::vector<CollisionBox> boxes_a, boxes_b;
    a.each_solid_near(center - extent, center + extent,
                      [&](const CollisionBox& box) { boxes_a.push_back(box); });
    const Vec3 center_a = mul_transposed(turn, (a.lo + a.hi) * 0.5f - offset);
    const Vec3 extent_a = extent_of(transposed(turn), (a.hi - a.lo) * 0.5f);
    b.each_solid_near(center_a - extent_a, center_a + extent_a,
                      [&](const CollisionBox& box) { boxes_b.push_back(box); });

    float need[6][2] = {};  // by axis (faces of a, then of b) and sign
    for (const CollisionBox& qb : boxes_b) {
        const Vec3 at = turn * qb.center + offset;
        for (const CollisionBox& qa : boxes_a) {
            SharedAxes::Separations s;
            axes.evaluate(at - qa.center, qa.half, qb.half, 1e30f, s);
            for (int k = 0; k < 6; k++) {
                if (passes_by(s, k)) continue;
                const float reach = std::fabs(s.along[k]) - s.distance[k];
                for (const int sign : {0, 1}) {
                    const float n = reach - (sign ? -s.along[k] : s.along[k]);
                    if (n > need[k][sign]) need[k][sign] = n;
                }
            }
        }
    }
    int axis = 0, sign = 0;
    for (int k = 0; k < 6; k++)
        for (const int s : {0, 1})
            if (need[k][s] < need[axis][sign]) {
                axis = k;
                sign = s;
            }
    if (need[axis][sign] <= 0) return;
    // In the middle of what is deep.
    Vec3 middle;
    float weight = 0;
    for (const ContactPoint& p : points) {
        if (p.separation > -0.5f * kTangled) continue;
        middle += (p.on_a + p.on_b) * 0.5f * -p.separation;
        weight -= p.separation;
    }
    middle = middle / weight;
    const Vec3 normal = axes.axis(axis) * (sign ? -1.0f : 1.0f);
    ContactPoint way = points[deepest];
    way.normal = normal;
    way.separation = -need[axis][sign];
    way.on_a = middle - normal * (0.5f * way.separation);
    way.on_b = middle + normal * (0.5f * way.separation);
    way.key = axis * 2 + (sign ? 0 : 1);
    points.assign(1, way);
}

}  // namespace talus
