#include "dynamics/narrow_phase.h"

namespace talus {

namespace {

constexpr float kMargin = 0.03f;        // contacts are made this far ahead, plus the motion of a step
constexpr float kMostMotion = 0.5f;     // of which at most this much counts; sweep.h covers what is faster
constexpr float kReuseMotion = 0.015f;  // relative motion after which touching pairs collide anew
constexpr float kReuseTravel = 0.02f;   // a step; faster pairs always collide anew
constexpr float kLeastBudget = 0.004f;  // for pairs that nearly touch
constexpr float kWorldReach = 0.3f;     // how far beyond the margin terrain is looked at
constexpr float kSameNormal = 0.985f;   // cosine above which normals are one
constexpr float kSamePoint2 = 0.0025f;  // squared distance below which points are one
constexpr float kWarmNormal = 0.9f;     // cosine above which impulses are handed on
constexpr float kWarmPoint2 = 0.02f;    // squared distance below which they are

/// Angle between two attitudes, from the difference of their matrices; small angles.
float turn_between(const Mat3& a, const Mat3& b) {
    float sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const float e = a.m[i][j] - b.m[i][j];
            sum += e * e;
        }
    return std::sqrt(sum * 0.5f);
}

}  // namespace

void NarrowPhase::run(BodyStore& bodies, PairTable& table, const BroadPhase& broad, const WorldSolids& world,
                      std::uint16_t (&layers)[16], float dt) {
    bodies_ = &bodies;
    table_ = &table;
    broad_ = &broad;
    world_ = &world;
    layers_ = layers;
    dt_ = dt;
    active.clear();
    const auto n = std::int32_t(table.pairs.size());
    for (std::int32_t i = 0; i < n; i++) {
        if (i + 6 < n) {
            const Pair& ahead = table.pairs[std::size_t(i + 6)];
            const auto* a = reinterpret_cast<const char*>(&bodies.hot[std::size_t(ahead.a)]);
            const auto* b = reinterpret_cast<const char*>(&bodies.hot[std::size_t(ahead.b)]);
            for (int line = 0; line < 3; line++) {
                __builtin_prefetch(a + 64 * line);
                __builtin_prefetch(b + 64 * line);
            }
        }
        if (i + 3 < n && table.pairs[std::size_t(i + 3)].first >= 0) {
            const auto* m = reinterpret_cast<const char*>(
                &table.manifolds[std::size_t(table.pairs[std::size_t(i + 3)].first)]);
            for (int line = 0; line < 4; line++) __builtin_prefetch(m + 64 * line);
        }
        if (!table.pairs[std::size_t(i)].dead) update_pair(i);
    }
}

void NarrowPhase::join(std::int32_t body) {
    for (std::int32_t i = bodies_->hot[std::size_t(body)].first_pair; i >= 0;) {
        const Pair& p = table_->pairs[std::size_t(i)];
        const std::int32_t index = i, other = p.a == body ? p.b : p.a;
        i = p.next[p.a == body ? 0 : 1];
        // Pairs with what was awake before are in already.
        if (!bodies_->awake(other) && !bodies_->kinematic_moving(other)) update_pair(index);
    }
}

void NarrowPhase::lose(Pair& pair) {
    if (pair.load > 0) {
        if (bodies_->hot[std::size_t(pair.a)].asleep) lost_support.push_back(pair.a);
        if (bodies_->hot[std::size_t(pair.b)].asleep) lost_support.push_back(pair.b);
    }
    pair.load = 0;
}

void NarrowPhase::update_pair(std::int32_t i) {
    Pair& pair = table_->pairs[std::size_t(i)];
    BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    const bool a_awake = a.dynamic && !a.asleep, b_awake = b.dynamic && !b.asleep;
    if (!a_awake && !b_awake) {
        // A moving kinematic body must wake what sleeps on it.
        const bool pushed = (a.asleep && bodies_->kinematic_moving(pair.b)) ||
                            (b.asleep && bodies_->kinematic_moving(pair.a));
        if (!pushed) return;
    }
    if (pair.b != 0 && (broad_->moved(pair.a) || broad_->moved(pair.b)) && !broad_->overlap(pair.a, pair.b)) {
        if (pair.touching) lose(pair);
        table_->remove(i, a.first_pair, b.first_pair);
        return;
    }
    const Vec3 between = pair.b ? to_float(b.position - a.position) : Vec3{};
    const Vec3 relative = b.velocity - a.velocity;
    const float travel = length(relative) * dt_;
    const float radius_b = pair.b ? b.radius : 0;
    const float motion = travel + 0.5f * dt_ * (length(a.spin) * a.radius + length(b.spin) * radius_b);
    const float margin = kMargin + (motion < kMostMotion ? motion : kMostMotion);
    if (pair.b) {
        for (int k = 0; k < 3; k++) {
            if (a.lo[k] <= between[k] + b.hi[k] + margin && between[k] + b.lo[k] <= a.hi[k] + margin)
                continue;
            if (pair.first >= 0) {
                table_->free_manifolds(pair.first);
                pair.first = -1;
                lose(pair);
            }
            pair.touching = false;
            pair.budget = -1;
            return;
        }
    }
    const Mat3 turn = pair.b ? mul_transposed(a.rotation, b.rotation) : transposed(a.rotation);
    const Vec3 offset = mul_transposed(a.rotation, between);  // centre to centre, axes of a

    bool anew = true;
    if (pair.budget >= 0) {
        const Vec3 moved = pair.b ? offset - pair.offset : to_float(a.position - pair.position);
        const float used = length(moved) + turn_between(turn, pair.turn) * (pair.b ? radius_b : a.radius);
        if (pair.touching)
            anew = !(used < pair.budget && travel < kReuseTravel);
        else
            anew = !(used + (margin - kMargin) < pair.budget);
    }
    if (anew) {
        const bool was_touching = pair.touching;
        collide(pair, turn, offset, margin, kWorldReach + 2 * motion);
        if (was_touching && !pair.touching) lose(pair);
        pair.turn = turn;
        pair.offset = offset;
        if (!pair.b) pair.position = a.position;
    }
    if (!pair.touching) return;
    active.push_back(i);
    const Vec3 now = pair.b ? offset : mul_transposed(a.rotation, to_float(pair.origin - a.position));
    for (std::int32_t m = pair.first; m >= 0; m = table_->manifolds[std::size_t(m)].next)
        table_->manifolds[std::size_t(m)].offset = now;
}

void NarrowPhase::collide(Pair& pair, const Mat3& turn, Vec3 offset, float margin, float reach) {
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    points_.clear();
    friction_b_.clear();
    float nearest;
    if (pair.b == 0) {
        nearest = collide_world(pair, margin, reach);
        offset = mul_transposed(a.rotation, to_float(pair.origin - a.position));
        build_manifolds(pair, turn, offset + a.com);
    } else {
        // From reference to reference.
        const Vec3 apart = offset + a.com - turn * b.com;
        const SharedAxes axes(turn);
        const BodyShape::Data &sa = *a.shape, &sb = *b.shape;
        nearest = -1;
        if (!sa.only_box() || !sb.only_box()) {
            SharedAxes::Separations unused;
            const Vec3 ca = (sa.lo + sa.hi) * 0.5f, cb = (sb.lo + sb.hi) * 0.5f;
            const float whole = axes.evaluate(turn * cb + apart - ca, (sa.hi - sa.lo) * 0.5f,
                                              (sb.hi - sb.lo) * 0.5f, margin, unused);
            if (whole > margin) nearest = whole;
        }
        if (nearest < 0) {
            const BoxSet<BodyShape::Data> set_a{sa.solids.data(), std::int32_t(sa.solids.size()), &sa,
                                                sa.only_box()};
            const BoxSet<BodyShape::Data> set_b{sb.solids.data(), std::int32_t(sb.solids.size()), &sb,
                                                sb.only_box()};
            nearest = collide_boxes(set_a, sa.lo, sa.hi, set_b, turn, apart, axes, margin, points_);
        }
        build_manifolds(pair, turn, apart);
    }
    pair.touching = pair.first >= 0;
    const float left = nearest - kMargin;
    pair.budget = pair.touching ? kReuseMotion : left > kLeastBudget ? left : kLeastBudget;
}

float NarrowPhase::collide_world(Pair& pair, float margin, float reach) {
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const float size = world_->cell_size;
    const float around = margin + reach;
    const DVec3 lo = a.position + to_double(a.lo) - DVec3{around, around, around};
    const DVec3 hi = a.position + to_double(a.hi) + DVec3{around, around, around};
    auto cell_at = [&](DVec3 p) {
        auto floor_to_int = [&](double x) {
            const double f = std::floor(x / double(size));
            return f < -2e9 ? -2000000000 : f > 2e9 ? 2000000000 : int(f);
        };
        return Cell{floor_to_int(p.x), floor_to_int(p.y), floor_to_int(p.z)};
    };
    const Cell home = cell_at(a.position);
    pair.origin = {home.x * double(size), home.y * double(size), home.z * double(size)};
    const Mat3 turn = transposed(a.rotation);
    const Vec3 offset = mul_transposed(a.rotation, to_float(pair.origin - a.position)) + a.com;
    const bool no_terrain = !(layers_[a.layer] >> int(Layer::terrain) & 1);
    const bool pass_soft = !(layers_[a.layer] >> int(Layer::soft_terrain) & 1);
    float nearest = around;
    if (no_terrain || !world_->any()) return nearest;

    const BodyShape::Data& shape = *a.shape;
    const BoxSet<BodyShape::Data> set_a{shape.solids.data(), std::int32_t(shape.solids.size()), &shape,
                                        shape.only_box()};
    const Cell first = cell_at(lo), last = cell_at(hi);
    const Vec3 region_lo = to_float(lo - pair.origin), region_hi = to_float(hi - pair.origin);
    const SharedAxes axes(turn);
    constexpr int kTile = TerrainPatch::kMostCells;
    for (int y = first.y; y <= last.y; y += kTile)
        for (int z = first.z; z <= last.z; z += kTile)
            for (int x = first.x; x <= last.x; x += kTile) {
                const CellBox cells{{x, y, z},
                                    {x + kTile - 1 < last.x ? x + kTile - 1 : last.x,
                                     y + kTile - 1 < last.y ? y + kTile - 1 : last.y,
                                     z + kTile - 1 < last.z ? z + kTile - 1 : last.z}};
                patch_.gather(*world_, pair.origin, home, cells, pass_soft, region_lo, region_hi);
                if (patch_.solids.empty()) continue;
                const BoxSet<TerrainPatch> set_b{patch_.solids.data(), std::int32_t(patch_.solids.size()),
                                                 &patch_, false};
                const float d =
                    collide_boxes(set_a, shape.lo, shape.hi, set_b, turn, offset, axes, margin, points_);
                if (d < nearest) nearest = d;
                for (std::size_t i = friction_b_.size(); i < points_.size(); i++) {
                    // Just inside the block that is touched.
                    const ContactPoint& p = points_[i];
                    const Vec3 inside = mul_transposed(turn, p.on_b + p.normal * 0.02f - offset);
                    friction_b_.push_back(patch_.friction_at(*world_, home, inside));
                }
            }
    return nearest;
}

/// Keeps at most four points that hold the cluster best. @return how many
int NarrowPhase::pick_points(int (&cluster)[64], int n, Vec3 normal) const {
    if (n <= 4) return n;
    auto point = [&](int k) -> const ContactPoint& { return points_[std::size_t(cluster[k])]; };
    // Points still apart count less.
    auto worth = [&](int k) {
        const float s = point(k).separation;
        if (s <= 0) return 1.0f;
        const float w = 1 - s * 20;
        return w > 0.05f ? w : 0.05f;
    };
    constexpr float kClear = 1e-4f;  // the first of near-equals wins, whatever the rounding
    int keep[4] = {0, 0, -1, -1};
    for (int k = 1; k < n; k++)
        if (point(k).separation < point(keep[0]).separation - kClear) keep[0] = k;
    float most = -1;
    for (int k = 0; k < n; k++) {
        const Vec3 e = point(k).on_a - point(keep[0]).on_a;
        const float d = dot(e, e) * worth(k);
        if (d > most) {
            most = d;
            keep[1] = k;
        }
    }
    const Vec3 line = point(keep[1]).on_a - point(keep[0]).on_a;
    float left = 0, right = 0;
    for (int k = 0; k < n; k++) {
        const float area = dot(cross(line, point(k).on_a - point(keep[0]).on_a), normal) * worth(k);
        if (area > left + kClear) {
            left = area;
            keep[2] = k;
        }
        if (area < right - kClear) {
            right = area;
            keep[3] = k;
        }
    }
    int kept[4], m = 0;
    for (const int k : keep)
        if (k >= 0) kept[m++] = cluster[k];
    for (int k = 0; k < m; k++) cluster[k] = kept[k];
    return m;
}

void NarrowPhase::warm_start(Manifold& m, std::int32_t old) const {
    const Vec3 second = cross(m.normal, m.tangent);
    for (; old >= 0; old = table_->manifolds[std::size_t(old)].next) {
        Manifold& w = table_->manifolds[std::size_t(old)];
        if (dot(w.normal, m.normal) < kWarmNormal) continue;
        bool found = false;
        for (int k = 0; k < m.count; k++)
            for (int l = 0; l < w.count; l++) {
                const Vec3 e = w.points[l].on_a - m.points[k].on_a;
                if (dot(e, e) < kWarmPoint2 && w.points[l].impulse > 0) {
                    m.points[k].impulse = w.points[l].impulse;
                    w.points[l].impulse = 0;
                    found = true;
                    break;
                }
            }
        if (!found) continue;
        const Vec3 force =
            w.tangent * w.friction_impulse[0] + cross(w.normal, w.tangent) * w.friction_impulse[1];
        m.friction_impulse[0] = dot(force, m.tangent);
        m.friction_impulse[1] = dot(force, second);
        m.friction_impulse[2] = w.friction_impulse[2];
        for (float& f : w.friction_impulse) f = 0;
    }
}

/// Groups points by normal, deepest group first, and hands on impulses from the manifolds before.
void NarrowPhase::build_manifolds(Pair& pair, const Mat3& turn, Vec3 offset) {
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    const std::int32_t old = pair.first;
    std::int32_t last = -1;
    pair.first = -1;
    const std::size_t n = points_.size();
    taken_.assign(n, 0);
    for (;;) {
        std::size_t deepest = n;
        for (std::size_t i = 0; i < n; i++)
            if (!taken_[i] && (deepest == n || points_[i].separation < points_[deepest].separation))
                deepest = i;
        if (deepest == n) break;
        const ContactPoint lead = points_[deepest];
        int cluster[64], count = 0;
        for (std::size_t i = 0; i < n; i++) {
            if (taken_[i]) continue;
            const ContactPoint& p = points_[i];
            if (p.key != lead.key && dot(p.normal, lead.normal) <= kSameNormal) continue;
            taken_[i] = 1;
            bool same = false;
            for (int k = 0; k < count && !same; k++) {
                ContactPoint& q = points_[std::size_t(cluster[k])];
                const Vec3 e = q.on_a - p.on_a;
                if (dot(e, e) >= kSamePoint2) continue;
                same = true;
                if (p.separation < q.separation) cluster[k] = int(i);
            }
            if (!same && count < 64) cluster[count++] = int(i);
        }
        count = pick_points(cluster, count, lead.normal);

        const std::int32_t index = table_->new_manifold();
        Manifold& m = table_->manifolds[std::size_t(index)];
        m = Manifold{};
        m.a = pair.a;
        m.b = pair.b;
        m.normal = lead.normal;
        const Vec3 t = std::fabs(lead.normal.x) < 0.6f ? Vec3{0, -lead.normal.z, lead.normal.y}
                                                       : Vec3{-lead.normal.y, lead.normal.x, 0};
        m.tangent = t * (1 / length(t));
        m.count = count;
        m.key = lead.key;
        const float fa = friction_of(pair.a, a.shape->solids[std::size_t(lead.box_a)].friction);
        const float fb = pair.b ? friction_of(pair.b, b.shape->solids[std::size_t(lead.box_b)].friction)
                                : friction_b_[deepest];
        m.friction = std::sqrt(fa * fb);
        const float ea = bodies_->cold[std::size_t(pair.a)].restitution;
        const float eb = pair.b ? bodies_->cold[std::size_t(pair.b)].restitution : 0;
        m.restitution = ea > eb ? ea : eb;
        for (int k = 0; k < count; k++) {
            const ContactPoint& p = points_[std::size_t(cluster[k])];
            m.points[k].on_a = p.on_a - a.com;
            m.points[k].on_b = mul_transposed(turn, p.on_b - offset) - (pair.b ? b.com : Vec3{});
            m.points[k].separation = p.separation;
        }
        warm_start(m, old);
        if (last < 0)
            pair.first = index;
        else
            table_->manifolds[std::size_t(last)].next = index;
        last = index;
    }
    table_->free_manifolds(old);
}

}  // namespace talus
