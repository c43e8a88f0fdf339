#include "dynamics/box_contact.h"

#include "dynamics/body_store.h"
#include "dynamics/face_clip.h"
#include "dynamics/terrain_patch.h"

namespace talus {

namespace {

constexpr float kNever = -1e9f;        // the separation of an axis that does not count
constexpr float kParallel = 2e-3f;     // sine squared below which two edges are parallel
constexpr float kEdgeBias = 0.005f;    // an edge must be this much better than a face
constexpr float kFaceBias = 0.002f;    // a face of b must be this much better than one of a
constexpr float kBorder = 0.03f;       // a point this near its box's border is on it
constexpr float kInset = 0.02f;        // how far beside a border places are looked up
constexpr float kSlant = 0.12f;        // normals with less than this along an axis do not leave through it
constexpr float kSteep = 0.6f;         // the same when deep: only the main axis counts
constexpr float kRetryDepth = 0.003f;  // deeper than this, a rejected face is replaced by the next
constexpr float kSteepDepth = 0.012f;  // deeper than this, try again with kSteep
constexpr float kAnySlant = 2;         // no normal is rejected
constexpr float kAnyDepth = 0.016f;    // deeper than this, take the least overlap, filter or not
constexpr float kResolved = 0.5f;      // share of the overlap a point must have to resolve it
constexpr float kGiveUpDepth = 0.9f;   // no face this deep is tried

/// A place in a box, `r` from its middle, or the nearest one that is clearly inside.
Vec3 pulled_inside(Vec3 r, const CollisionBox& box) {
    auto pull = [](float at, float half, float center) {
        const float limit = half - (half > 2 * kInset ? kInset : 0.5f * half);
        const float low = at < -limit ? -limit : at;
        return center + (low > limit ? limit : low);
    };
    return {pull(r.x, box.half.x, box.center.x), pull(r.y, box.half.y, box.center.y),
            pull(r.z, box.half.z, box.center.z)};
}

/// Does a contact at p on the surface of `box`, with this outward normal, lead out of the whole body?
template <class Solid>
bool leads_out(Vec3 p, const CollisionBox& box, Vec3 normal, const Solid& solid, float slant) {
    const Vec3 r = p - box.center;
    // Is p on the border this axis leads through, and does the normal lead there?
    auto leaves = [&](float at, float half, float n) -> unsigned {
        const float outwards = n > 0 ? at : -at;
        return unsigned(!(std::fabs(n) < slant)) & unsigned(!(outwards < half - kBorder));
    };
    const unsigned sides = leaves(r.x, box.half.x, normal.x) | leaves(r.y, box.half.y, normal.y) << 1 |
                           leaves(r.z, box.half.z, normal.z) << 2;
    if (!sides) return true;
    const Vec3 q = pulled_inside(r, box);
    auto beyond = [&](float center, float half, float n) {
        return center + (n > 0 ? half + kInset : -half - kInset);
    };
    if (sides & 1 && solid.solid_at({beyond(box.center.x, box.half.x, normal.x), q.y, q.z})) return false;
    if (sides & 2 && solid.solid_at({q.x, beyond(box.center.y, box.half.y, normal.y), q.z})) return false;
    return !(sides & 4 && solid.solid_at({q.x, q.y, beyond(box.center.z, box.half.z, normal.z)}));
}

/// The same for a point on a face of the box, straight out of it.
template <class Solid>
bool leads_out(Vec3 p, const BoxSet<Solid>& set, int box, int axis, float side, float slant) {
    if (set.lone || slant > 1) return true;
    const CollisionBox& c = set.boxes[std::size_t(box)];
    Vec3 q = pulled_inside(p - c.center, c);
    q[axis] = c.center[axis] + side * (c.half[axis] + kInset);
    return !set.solid->solid_at(q);
}

template <class Solid>
bool leads_out(Vec3 p, const BoxSet<Solid>& set, int box, Vec3 normal, float slant) {
    return set.lone || leads_out(p, set.boxes[std::size_t(box)], normal, *set.solid, slant);
}

/// What is known of one pair of boxes.
template <class SolidA, class SolidB>
struct BoxPair {
    const BoxSet<SolidA>& a;
    const BoxSet<SolidB>& b;
    int ia, ib;
    Vec3 center_b;  // in a's frame
    const Mat3& turn;
    Vec3 offset;
    const SharedAxes& axes;
    const SharedAxes::Separations& s;
    float margin;
    std::vector<ContactPoint>& out;

    const CollisionBox& box_a() const { return a.boxes[std::size_t(ia)]; }
    const CollisionBox& box_b() const { return b.boxes[std::size_t(ib)]; }
    Vec3 to_b(Vec3 p) const { return mul_transposed(turn, p - offset); }
    Vec3 to_a(Vec3 p) const { return turn * p + offset; }

    void add(Vec3 pa, Vec3 pb, Vec3 normal, float separation, int axis, bool positive) const {
        out.push_back(
            {pa, pb, normal, separation, axis * 2 + (positive ? 1 : 0), box_a().friction, box_b().friction});
    }

    /// Two faces: points of one clipped to the other.
    void face_contacts(int axis, float slant) const {
        const CollisionBox &qa = box_a(), &qb = box_b();
        ClippedFace face;
        if (axis < 3) {
            const float side = s.along[axis] > 0 ? 1.0f : -1.0f;
            Vec3 normal;
            normal[axis] = side;
            const Vec3 into_b = mul_transposed(turn, -normal);
            clip_face(qa.center, qa.half, axis, side, center_b, turn, qb.half, margin + axes.closing(normal),
                      face);
            for (int k = 0; k < face.count; k++) {
                const Vec3 pb = face.point(k), pa = pb - normal * face.separation[k];
                if (!leads_out(pa, a, ia, axis, side, slant)) continue;
                if (!leads_out(to_b(pb), b, ib, into_b, slant)) continue;
                add(pa, pb, normal, face.separation[k], axis, side > 0);
            }
        } else {
            const float side = s.along[axis] > 0 ? -1.0f : 1.0f;
            Vec3 out_of_b;
            out_of_b[axis - 3] = side;
            const Vec3 normal = -(turn * out_of_b);
            clip_face(qb.center, qb.half, axis - 3, side, to_b(qa.center), transposed(turn), qa.half,
                      margin + axes.closing(normal), face);
            for (int k = 0; k < face.count; k++) {
                const Vec3 pb = face.point(k) - out_of_b * face.separation[k];
                if (!leads_out(pb, b, ib, axis - 3, side, slant)) continue;
                const Vec3 pa = to_a(face.point(k));
                if (!leads_out(pa, a, ia, normal, slant)) continue;
                add(pa, to_a(pb), normal, face.separation[k], axis, side < 0);
            }
        }
    }

    /// Two edges that cross: the nearest points of their lines.
    void edge_contact(int axis, float slant) const {
        const int i = (axis - 6) / 3, j = (axis - 6) % 3;
        const CollisionBox &qa = box_a(), &qb = box_b();
        const bool positive = s.along[axis] > 0;
        const Vec3 normal = axes.axis(axis) * (positive ? 1.0f : -1.0f);
        Vec3 pa = qa.center, pb = center_b;
        for (int k = 0; k < 3; k++)
            if (k != i) pa[k] += normal[k] > 0 ? qa.half[k] : -qa.half[k];
        for (int k = 0; k < 3; k++)
            if (k != j) pb += turn.column(k) * (dot(normal, turn.column(k)) > 0 ? -qb.half[k] : qb.half[k]);
        const Vec3 along_b = turn.column(j), w = pb - pa;
        const float cosine = along_b[i], wi = w[i], wj = dot(w, along_b), scale = 1 / (1 - cosine * cosine);
        const float on_a = (wi - cosine * wj) * scale, on_b = (cosine * wi - wj) * scale;
        constexpr float kPast = 0.01f;
        if (std::fabs(on_a) > qa.half[i] + kPast || std::fabs(on_b) > qb.half[j] + kPast) return;
        pa[i] += on_a;
        pb += along_b * on_b;
        if (!leads_out(pa, a, ia, normal, slant)) return;
        if (!leads_out(to_b(pb), b, ib, mul_transposed(turn, -normal), slant)) return;
        add(pa, pb, normal, dot(pb - pa, normal), axis, positive);
    }

    /// Face axes whose face towards the other box is hidden.
    unsigned hidden() const {
        unsigned axes_hidden = 0;
        for (unsigned k = 0; k < 3; k++) {
            const unsigned up_a = s.along[k] > 0, up_b = s.along[k + 3] < 0;
            axes_hidden |= (box_a().cover >> (2 * k + up_a) & 1) << k;
            axes_hidden |= (box_b().cover >> (2 * k + up_b) & 1) << (k + 3);
        }
        return axes_hidden;
    }

    /// The best face of those that may be tried; -1: none.
    int best_face(unsigned may, float& best) const {
        auto best_of = [&](int first, float& most) {
            int face = -1;
            most = kNever;
            for (int k = first; k < first + 3; k++) {
                const float d = may >> k & 1 ? s.distance[k] : kNever;
                face = d > most ? k : face;
                most = d > most ? d : most;
            }
            return face;
        };
        float best_other;
        const int face = best_of(0, best), other = best_of(3, best_other);
        if (!(best_other > best + kFaceBias)) return face;
        best = best_other;
        return other;
    }
    /// The edges with the largest separation; -1: all are parallel.
    int best_edge(float& best) const {
        const Float8 high = simd::load(s.distance + 8);  // the last of them is never the largest
        best = largest(high);
        int edge = 8 + __builtin_ctz(unsigned(bits(simd::splat(best) <= high)) | 0x80);
        for (const int k : {7, 6}) {
            edge = s.distance[k] >= best ? k : edge;
            best = s.distance[k] >= best ? s.distance[k] : best;
        }
        return best > kNever ? edge : -1;
    }

    /// Second largest of three face separations: above a hair below zero, only an edge of that box is near.
    static float second(const float* d) {
        const float hi = d[0] > d[1] ? (d[0] > d[2] ? d[0] : d[2]) : (d[1] > d[2] ? d[1] : d[2]);
        const float lo = d[0] < d[1] ? (d[0] < d[2] ? d[0] : d[2]) : (d[1] < d[2] ? d[1] : d[2]);
        return d[0] + d[1] + d[2] - hi - lo;
    }

    void run() const {
        // Aligned edge on aligned edge pushes nowhere sensible.
        constexpr float kHair = -0.004f;
        if (second(s.distance) > kHair && second(s.distance + 3) > kHair) return;

        float best_face_distance;
        const unsigned shown = ~hidden();
        const int first_face = best_face(shown, best_face_distance);
        float edge_distance;
        const int edge = best_edge(edge_distance);
        const std::size_t before = out.size();
        const float best = best_face_distance > edge_distance ? best_face_distance : edge_distance;
        // When the deepest points are rejected, shallow ones beside them do not mend the overlap: go on.
        const float needed = best < -kRetryDepth ? kResolved * best : -kNever;
        auto resolved = [&] {
            for (std::size_t i = before; i < out.size(); i++)
                if (out[i].separation <= needed) return true;
            return false;
        };
        for (const float slant : {kSlant, kSteep, kAnySlant}) {
            if (edge >= 0 && edge_distance > best_face_distance + kEdgeBias) edge_contact(edge, slant);
            unsigned may = shown;
            int face = first_face;
            float distance = best_face_distance;
            while (!resolved() && face >= 0) {
                face_contacts(face, slant);
                if ((distance > edge_distance ? distance : edge_distance) > -kRetryDepth) break;
                may &= ~(1u << face);
                face = best_face(may, distance);
                if (distance < -kGiveUpDepth) break;
            }
            if (best > (slant == kSlant ? -kSteepDepth : -kAnyDepth) || resolved()) return;
        }
    }
};

}  // namespace

SharedAxes::SharedAxes(const Mat3& turn, Vec3 motion) : motion_(motion) {
    alignas(32) float squared[16], scale[16], penalty[16];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) squared[3 * i + j] = 1 - turn.m[i][j] * turn.m[i][j];
    for (int k = 9; k < 16; k++) squared[k] = 1;
    for (int g = 0; g < 2; g++) {
        const Float8 q = simd::load(squared + 8 * g);
        const Mask8 good = q > simd::splat(kParallel);
        simd::store(scale + 8 * g, keep(good, simd::splat(1) / sqrt(max(q, simd::splat(1e-6f)))));
        simd::store(penalty + 8 * g, select(good, simd::splat(0), simd::splat(kNever)));
    }
    alignas(32) float masked[16] = {};
    for (int k = 0; k < 3; k++) {
        lanes_x_[k] = k == 0;
        lanes_y_[k] = k == 1;
        lanes_z_[k] = k == 2;
        lanes_x_[3 + k] = turn.m[0][k];
        lanes_y_[3 + k] = turn.m[1][k];
        lanes_z_[3 + k] = turn.m[2][k];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 6 + 3 * i + j;
            const float q = scale[3 * i + j];
            const float x = turn.m[0][j] * q, y = turn.m[1][j] * q, z = turn.m[2][j] * q;
            lanes_x_[k] = i == 0 ? 0 : i == 1 ? z : -y;
            lanes_y_[k] = i == 0 ? -z : i == 1 ? 0 : x;
            lanes_z_[k] = i == 0 ? y : i == 1 ? -x : 0;
            masked[k] = penalty[3 * i + j];
        }
    lanes_x_[15] = lanes_y_[15] = lanes_z_[15] = 0;
    masked[15] = kNever;
    for (int g = 0; g < 2; g++) {
        const Float8 x = simd::load(lanes_x_ + 8 * g), y = simd::load(lanes_y_ + 8 * g),
                     z = simd::load(lanes_z_ + 8 * g);
        auto on = [&](int j) {
            return abs(x * simd::splat(turn.m[0][j]) + y * simd::splat(turn.m[1][j]) +
                       z * simd::splat(turn.m[2][j]));
        };
        x_[g] = x;
        y_[g] = y;
        z_[g] = z;
        ax_[g] = abs(x);
        ay_[g] = abs(y);
        az_[g] = abs(z);
        bx_[g] = on(0);
        by_[g] = on(1);
        bz_[g] = on(2);
        penalty_[g] = simd::load(masked + 8 * g);
        moves_[g] = x * simd::splat(motion.x) + y * simd::splat(motion.y) + z * simd::splat(motion.z);
    }
}

float SharedAxes::best_axis(Vec3 d, Vec3 ha, Vec3 hb, Vec3& axis_out) const {
    Separations s;
    float unused;
    near(d, ha, hb, 1e30f, s, unused);
    int best = 0;
    for (int k = 1; k < 15; k++)
        if (s.distance[k] > s.distance[best]) best = k;
    axis_out = axis(best) * (s.along[best] > 0 ? 1.0f : -1.0f);
    return s.distance[best];
}

Vec3 extent_of(const Mat3& turn, Vec3 half) {
    auto row = [&](const float(&m)[3]) {
        return std::fabs(m[0]) * half.x + std::fabs(m[1]) * half.y + std::fabs(m[2]) * half.z;
    };
    return {row(turn.m[0]), row(turn.m[1]), row(turn.m[2])};
}

namespace {

/// @param lo,hi  bounds of a
template <class SolidA, class SolidB>
float collide_boxes(const BoxSet<SolidA>& a, Vec3 lo, Vec3 hi, const BoxSet<SolidB>& b, const Mat3& turn,
                    Vec3 offset, const SharedAxes& axes, float margin, std::vector<ContactPoint>& out) {
    float nearest = 1e9f;
    const float far = margin + length(axes.motion());
    for (std::size_t ib = 0; ib < b.boxes.size(); ib++) {
        const CollisionBox& qb = b.boxes[ib];
        const Vec3 center = turn * qb.center + offset;
        // Bounds of this box against those of the whole of a, then of its groups.
        const Vec3 extent = extent_of(turn, qb.half);
        const float gap = gap_between(lo, hi, center, extent);
        if (gap > far) {
            if (gap < nearest) nearest = gap;
            continue;
        }
        auto test = [&](std::size_t first, std::size_t last) {
            for (std::size_t ia = first; ia < last; ia++) {
                const CollisionBox& qa = a.boxes[ia];
                SharedAxes::Separations s;
                float apart;
                if (!axes.near(center - qa.center, qa.half, qb.half, margin, s, apart)) {
                    if (apart < nearest) nearest = apart;
                    continue;
                }
                nearest = -1;
                BoxPair<SolidA, SolidB>{a, b, int(ia), int(ib), center, turn, offset, axes, s, margin, out}
                    .run();
            }
        };
        if (a.groups.empty()) {
            test(0, a.boxes.size());
            continue;
        }
        for (std::size_t g = 0; g < a.groups.size(); g++) {
            const float apart = gap_between(a.groups[g].lo, a.groups[g].hi, center, extent);
            if (apart > far) {
                if (apart < nearest) nearest = apart;
                continue;
            }
            const std::size_t first = g * BoxGroup::kSize, last = first + BoxGroup::kSize;
            test(first, last < a.boxes.size() ? last : a.boxes.size());
        }
    }
    return nearest;
}

BoxSet<PartSolid> set_of(const SolidPart& part, const PartSolid& solid, bool lone) {
    return {part.solids, &solid, lone, part.groups};
}

/// One brick of a, `origin` from a's reference.
template <class SolidB>
float collide_brick(const BodyShape::Data& a, const BrickTree::Brick& brick, Vec3 origin,
                    const BoxSet<SolidB>& b, const Mat3& turn, Vec3 offset, const SharedAxes& axes,
                    float margin, std::vector<ContactPoint>& out) {
    const PartSolid solid{&brick.part, &*a.bricks, &brick};
    const std::size_t before = out.size();
    const float d = collide_boxes(set_of(brick.part, solid, false), brick.part.lo, brick.part.hi, b, turn,
                                  offset - origin, axes, margin, out);
    for (std::size_t i = before; i < out.size(); i++) {
        out[i].on_a += origin;
        out[i].on_b += origin;
    }
    return d;
}

/// Every part of a near a part of b.
/// @param lo,hi  bounds of that part of b, in b's axes about the origin that `offset` leads to
template <class SolidB>
float collide_parts(const BodyShape::Data& a, const BoxSet<SolidB>& b, Vec3 lo, Vec3 hi, const Mat3& turn,
                    Vec3 offset, const SharedAxes& axes, float margin, std::vector<ContactPoint>& out) {
    if (!a.bricks) {
        const PartSolid solid{&a};
        return collide_boxes(set_of(a, solid, a.only_box()), a.lo, a.hi, b, turn, offset, axes, margin, out);
    }
    float nearest = 1e9f;
    const float far = margin + length(axes.motion());
    const Vec3 center = turn * ((lo + hi) * 0.5f) + offset, extent = extent_of(turn, (hi - lo) * 0.5f);
    auto apart = [&](Vec3 from, Vec3 to) {
        const float gap = gap_between(from, to, center, extent);
        if (gap <= far) return false;
        if (gap < nearest) nearest = gap;
        return true;
    };
    a.bricks->visit(a.reference, apart, [&](const BrickTree::Brick& brick, Vec3 origin) {
        const float d = collide_brick(a, brick, origin, b, turn, offset, axes, margin, out);
        if (d < nearest) nearest = d;
    });
    return nearest;
}

}  // namespace

float collide_shapes(const BodyShape::Data& a, const BodyShape::Data& b, const Mat3& turn, Vec3 offset,
                     const SharedAxes& axes, float margin, std::vector<ContactPoint>& out) {
    if (!b.bricks) {
        const PartSolid solid{&b};
        return collide_parts(a, set_of(b, solid, b.only_box()), b.lo, b.hi, turn, offset, axes, margin, out);
    }
    float nearest = 1e9f;
    const float far = margin + length(axes.motion());
    auto apart = [&](Vec3 from, Vec3 to) {
        const float gap = gap_between(a.lo, a.hi, turn * ((from + to) * 0.5f) + offset,
                                      extent_of(turn, (to - from) * 0.5f));
        if (gap <= far) return false;
        if (gap < nearest) nearest = gap;
        return true;
    };
    b.bricks->visit(b.reference, apart, [&](const BrickTree::Brick& brick, Vec3 origin) {
        const PartSolid solid{&brick.part, &*b.bricks, &brick};
        const float d = collide_parts(a, set_of(brick.part, solid, false), brick.part.lo, brick.part.hi, turn,
                                      turn * origin + offset, axes, margin, out);
        if (d < nearest) nearest = d;
    });
    return nearest;
}

float collide_terrain(const BodyShape::Data& a, const TerrainPatch& b, const Mat3& turn, Vec3 offset,
                      const SharedAxes& axes, float margin, float reach, std::vector<ContactPoint>& out) {
    if (!a.bricks)
        return collide_parts(a, BoxSet<TerrainPatch>{b.solids, &b, false}, {}, {}, turn, offset, axes, margin,
                             out);
    float nearest = reach;
    const BrickTree::Reference reference = a.bricks->reference(a.reference);
    for (const CollisionBox& box : b.solids) {
        const Vec3 center = turn * box.center + offset, extent = extent_of(turn, box.half),
                   around = extent + Vec3{reach, reach, reach};
        const BoxSet<TerrainPatch> one{std::span(&box, 1), &b, false};
        a.bricks->visit_near(
            reference, center - around, center + around, [&](const BrickTree::Brick& brick, Vec3 origin) {
                const SolidPart& part = brick.part;
                const Vec3 from = part.lo + origin, to = part.hi + origin;
                float apart;
                SharedAxes::Separations unused;
                if (!axes.near(center - (from + to) * 0.5f, (to - from) * 0.5f, box.half, margin, unused,
                               apart)) {
                    if (apart < nearest) nearest = apart;
                    return false;
                }
                const float d = collide_brick(a, brick, origin, one, turn, offset, axes, margin, out);
                if (d < nearest) nearest = d;
                return false;
            });
    }
    return nearest;
}

}  // namespace talus
