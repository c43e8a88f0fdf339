#include "dynamics/untangle.h"

#include "dynamics/body_store.h"

namespace talus {

namespace {

constexpr float kBeside = -0.01f;  // separation from which two boxes pass each other
constexpr float kFree = 0.02f;     // m: an overlap that the pairs of boxes mend
constexpr float kClosed = 2, kGoing = 0.7f;
constexpr float kLonger = 0.05f;  // m: a way that has become so much longer is not being gone

/// Where on a way two boxes overlap.
struct Stretch {
    float from, to;
};

/// The first place on a way that is free.
float first_free(const std::vector<Stretch>& stretches) {
    float at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (const Stretch& s : stretches) {
            if (!(at - s.from > kFree && s.to - at > kFree)) continue;
            at = s.to;
            moved = true;
        }
    }
    return at;
}

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

bool is_tangled(const std::vector<ContactPoint>& points) {
    for (const ContactPoint& p : points)
        if (p.separation <= -kTangled) return true;
    return false;
}

void untangle(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
              const SharedAxes& axes, const Ways& ways, std::vector<ContactPoint>& points) {
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

    std::vector<Stretch> stretches[kWays];
    for (const CollisionBox& qb : boxes_b) {
        const Vec3 at = turn * qb.center + offset;
        for (const CollisionBox& qa : boxes_a) {
            SharedAxes::Separations s;
            float unused;
            axes.near(at - qa.center, qa.half, qb.half, 1e30f, s, unused);
            for (int k = 0; k < 6; k++) {
                if (passes_by(s, k)) continue;
                const float reach = std::fabs(s.along[k]) - s.distance[k];
                for (const int sign : {0, 1}) {
                    const float middle = sign ? -s.along[k] : s.along[k];
                    if (middle + reach > 0)
                        stretches[2 * k + sign].push_back({middle - reach, middle + reach});
                }
            }
        }
    }
    int best = 0;
    float best_need = 0, best_cost = 1e30f;
    for (int way = 0; way < kWays; way++) {
        const float need = first_free(stretches[way]);
        const bool going = way == ways.going && need < ways.left + kLonger;
        const float cost = need * (ways.closed >> way & 1 ? kClosed : going ? kGoing : 1.0f);
        if (cost >= best_cost) continue;
        best = way;
        best_need = need;
        best_cost = cost;
    }
    if (best_need <= 0) return;
    // In the middle of what is deep.
    Vec3 middle;
    float weight = 0;
    for (const ContactPoint& p : points) {
        if (p.separation > -0.5f * kTangled) continue;
        middle += (p.on_a + p.on_b) * 0.5f * -p.separation;
        weight -= p.separation;
    }
    middle = middle / weight;
    const Vec3 normal = direction_of(best, axes);
    ContactPoint way = points[0];
    way.normal = normal;
    way.separation = -best_need;
    way.on_a = middle + normal * (0.5f * best_need);
    way.on_b = middle - normal * (0.5f * best_need);
    way.key = kFirstTangleKey + best;
    points.assign(1, way);
}

}  // namespace talus
