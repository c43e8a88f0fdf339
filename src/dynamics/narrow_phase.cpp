#include "dynamics/narrow_phase.h"

#include "dynamics/jobs_in_chunks.h"
#include "dynamics/round_contact.h"
#include "dynamics/smooth_contact.h"

namespace talus {

namespace {

constexpr float kMargin = 0.03f;        // contacts are made this far ahead, plus the motion of a step
constexpr float kMostMotion = 0.5f;     // of which at most this much counts; sweep.h covers what is faster
constexpr float kReuseMotion = 0.02f;   // relative motion after which touching pairs collide anew
constexpr float kReuseTravel = 0.02f;   // a step; faster pairs always collide anew
constexpr float kLeastBudget = 0.004f;  // for pairs that nearly touch
constexpr float kWorldReach = 0.3f;     // how far beyond the margin terrain is looked at
constexpr float kFastReach = 0.4f;      // beyond it (3 m/s) bricks are looked at first
constexpr float kHitSpeed = 4;          // m/s
constexpr std::size_t kChunk = 384;     // pairs
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

/// Keeps at most four points that hold the cluster best: corners of what touches.
void pick_points(const std::vector<ContactPoint>& points, std::vector<std::int32_t>& cluster, Vec3 normal,
                 Vec3 tangent) {
    if (cluster.size() <= 4) return;
    auto point = [&](std::int32_t k) -> const ContactPoint& { return points[std::size_t(k)]; };
    // Points still apart count less.
    auto worth = [&](std::int32_t k) {
        const float s = point(k).separation;
        if (s <= 0) return 1.0f;
        const float w = 1 - s * 20;
        return w > 0.05f ? w : 0.05f;
    };
    constexpr float kClear = 1e-4f;  // the first of near-equals wins, whatever the rounding
    std::int32_t keep[4] = {cluster[0], -1, -1, -1};
    for (const std::int32_t k : cluster)
        if (point(k).separation < point(keep[0]).separation - kClear) keep[0] = k;
    constexpr std::size_t kMany = 16;
    if (cluster.size() > kMany) {
        // Of all that are about as deep, a corner: the middle of a side would leave one of its ends without
        // support.
        constexpr float kLevel = 2e-3f;
        const float deepest = point(keep[0]).separation;
        const Vec3 slanting = tangent * 0.8f + cross(normal, tangent) * 0.6f;
        float most = -1e9f;
        for (const std::int32_t k : cluster) {
            const float d = dot(point(k).on_a, slanting);
            if (point(k).separation > deepest + kLevel || d <= most + kClear) continue;
            most = d;
            keep[0] = k;
        }
    }
    float most = -1;
    for (const std::int32_t k : cluster) {
        const Vec3 e = point(k).on_a - point(keep[0]).on_a;
        const float d = dot(e, e) * worth(k);
        if (d > most) {
            most = d;
            keep[1] = k;
        }
    }
    const Vec3 line = point(keep[1]).on_a - point(keep[0]).on_a;
    float left = 0, right = 0;
    for (const std::int32_t k : cluster) {
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
    cluster.clear();
    for (const std::int32_t k : keep)
        if (k >= 0) cluster.push_back(k);
}

}  // namespace

void NarrowPhase::run(BodyStore& bodies, PairTable& table, const BroadPhase& broad, const WorldSolids& world,
                      std::uint16_t (&layers)[16], float dt, JobSystem* jobs) {
    bodies_ = &bodies;
    table_ = &table;
    broad_ = &broad;
    world_ = &world;
    layers_ = layers;
    dt_ = dt;
    active.clear();
    // What moves reaches at least a unit farther, so its pairs with what rests are looked at.
    reach_ = bodies.way;
    spin_motion_.assign(bodies.way.size(), 0);
    for (std::int32_t i = 1; i < bodies.size(); i++) {
        const BodyHot& h = bodies.hot[std::size_t(i)];
        if (!h.exists || h.asleep || (!h.dynamic && !bodies.kinematic_moving(i))) continue;
        spin_motion_[std::size_t(i)] = 0.5f * dt * length(h.spin) * h.radius;
        reach_[std::size_t(i)] += BodyStore::to_way(dt * length(h.velocity) + spin_motion_[std::size_t(i)]);
    }
    clear_scratch(todo_);
    const auto n = std::int32_t(table.waits.size());
    for (std::int32_t i = 0; i < n; i++) {
        const PairWait& w = table.waits[std::size_t(i)];
        if (reach_[std::size_t(w.a)] + reach_[std::size_t(w.b)] > w.until) todo_.push_back(i);
    }

    const std::size_t chunks = (todo_.size() + kChunk - 1) / kChunk;
    const bool parallel = jobs && jobs->worker_count() > 1 && chunks > 1;
    if (chunks_.empty() || (parallel && chunks_.size() < chunks)) chunks_.resize(parallel ? chunks : 1);
    const std::size_t spare = chunks + 1;  // lists of chunks from busier times go
    if (chunks_.size() > 2 * spare) chunks_.erase(chunks_.begin() + std::ptrdiff_t(spare), chunks_.end());
    auto work = [&](std::size_t c) {
        Chunk& chunk = chunks_[parallel ? c : 0];
        const std::size_t first = c * kChunk,
                          last = first + kChunk < todo_.size() ? first + kChunk : todo_.size();
        for (std::size_t i = first; i < last; i++) {
            if (i + 8 < last) {
                const auto* p = reinterpret_cast<const char*>(&table.pairs[std::size_t(todo_[i + 8])]);
                for (int line = 0; line < 3; line++) __builtin_prefetch(p + 64 * line);
            }
            if (i + 6 < last) {
                const PairWait& ahead = table.waits[std::size_t(todo_[i + 6])];
                const auto* a = reinterpret_cast<const char*>(&bodies.hot[std::size_t(ahead.a)]);
                const auto* b = reinterpret_cast<const char*>(&bodies.hot[std::size_t(ahead.b)]);
                for (int line = 0; line < 3; line++) {
                    __builtin_prefetch(a + 64 * line);
                    __builtin_prefetch(b + 64 * line);
                }
            }
            if (i + 3 < last && table.pairs[std::size_t(todo_[i + 3])].first >= 0) {
                const auto* m = reinterpret_cast<const char*>(
                    &table.manifolds[std::size_t(table.pairs[std::size_t(todo_[i + 3])].first)]);
                for (int line = 0; line < 4; line++) __builtin_prefetch(m + 64 * line);
            }
            update_pair(chunk, todo_[i]);
        }
        if (parallel) return;
        commit(chunk);
        fill(chunk);
    };
    tangled_.clear();
    hits = 0;
    in_chunks(parallel ? jobs : nullptr, chunks, work);
    if (parallel) {
        for (std::size_t c = 0; c < chunks; c++) commit(chunks_[c]);
        in_chunks(jobs, chunks, [&](std::size_t c) { fill(chunks_[c]); });
    }
    if (tangled_.empty()) return;
    // When all other contacts are known: they tell which ways are open.
    const auto before = std::ptrdiff_t(active.size());
    Chunk& chunk = chunks_[0];
    chunk.tangles = true;
    for (const std::int32_t i : tangled_) update_pair(chunk, i);
    chunk.tangles = false;
    commit(chunk);
    fill(chunk);
    std::inplace_merge(active.begin(), active.begin() + before, active.end());
}

void NarrowPhase::join(std::int32_t body) {
    for (std::int32_t i = bodies_->hot[std::size_t(body)].first_pair; i >= 0;) {
        const Pair& p = table_->pairs[std::size_t(i)];
        const std::int32_t index = i, other = p.a == body ? p.b : p.a;
        i = p.next[p.a == body ? 0 : 1];
        // Pairs with what was awake before are in already.
        if (bodies_->awake(other) || bodies_->kinematic_moving(other)) continue;
        chunks_[0].tangles = true;
        update_pair(chunks_[0], index);
        chunks_[0].tangles = false;
        commit(chunks_[0]);
        fill(chunks_[0]);
    }
}

void NarrowPhase::commit(Chunk& chunk) {
    for (const std::int32_t i : chunk.cleared) {
        Pair& pair = table_->pairs[std::size_t(i)];
        table_->free_manifolds(pair.first);
        pair.first = -1;
    }
    for (const std::int32_t i : chunk.removed) {
        const Pair& pair = table_->pairs[std::size_t(i)];
        table_->remove(i, bodies_->hot[std::size_t(pair.a)].first_pair,
                       bodies_->hot[std::size_t(pair.b)].first_pair);
    }
    chunk.places.clear();
    for (const Chunk::Found& f : chunk.found) {
        Pair& pair = table_->pairs[std::size_t(f.pair)];
        table_->free_manifolds(pair.first);
        pair.first = -1;
        for (std::int32_t k = 0; k < f.count; k++) {
            chunk.places.push_back(table_->new_manifold());
            if (k == 0) pair.first = chunk.places.back();
        }
    }
    active.insert(active.end(), chunk.active.begin(), chunk.active.end());
    lost_support.insert(lost_support.end(), chunk.lost_support.begin(), chunk.lost_support.end());
    tangled_.insert(tangled_.end(), chunk.tangled.begin(), chunk.tangled.end());
    hits += chunk.hits;
    chunk.hits = 0;
    for (auto* v : {&chunk.cleared, &chunk.removed, &chunk.active, &chunk.lost_support, &chunk.tangled})
        v->clear();
}

void NarrowPhase::fill(Chunk& chunk) {
    std::size_t at = 0;
    for (const Chunk::Found& f : chunk.found)
        for (std::int32_t k = 0; k < f.count; k++, at++) {
            Manifold& m = table_->manifolds[std::size_t(chunk.places[at])];
            m = chunk.manifolds[at];
            m.next = k + 1 < f.count ? chunk.places[at + 1] : -1;
        }
    chunk.manifolds.clear();
    chunk.found.clear();
}

void NarrowPhase::lose(Chunk& chunk, Pair& pair) {
    if (pair.load > 0) {
        if (bodies_->hot[std::size_t(pair.a)].asleep) chunk.lost_support.push_back(pair.a);
        if (bodies_->hot[std::size_t(pair.b)].asleep) chunk.lost_support.push_back(pair.b);
    }
    pair.load = 0;
}

/// The pair need not be looked at before its bodies went so far from where they are now.
void NarrowPhase::wait_for(std::int32_t i, float metres) {
    PairWait& w = table_->waits[std::size_t(i)];
    const std::int64_t now = bodies_->way[std::size_t(w.a)] + bodies_->way[std::size_t(w.b)];
    w.until = metres > 0 ? now + BodyStore::to_way(metres) - 1 : PairWait::kNow;
}

void NarrowPhase::wait_until_moved(std::int32_t i) {
    PairWait& w = table_->waits[std::size_t(i)];
    w.until = bodies_->way[std::size_t(w.a)] + bodies_->way[std::size_t(w.b)];
}

void NarrowPhase::update_pair(Chunk& chunk, std::int32_t i) {
    Pair& pair = table_->pairs[std::size_t(i)];
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    const bool a_awake = a.dynamic && !a.asleep, b_awake = b.dynamic && !b.asleep;
    if (!a_awake && !b_awake) {
        // A moving kinematic body must wake what sleeps on it.
        const bool pushed = (a.asleep && bodies_->kinematic_moving(pair.b)) ||
                            (b.asleep && bodies_->kinematic_moving(pair.a));
        if (!pushed) {
            wait_until_moved(i);
            return;
        }
    }
    if (pair.b != 0 && (broad_->moved(pair.a) || broad_->moved(pair.b)) && !broad_->overlap(pair.a, pair.b)) {
        if (pair.touching) lose(chunk, pair);
        chunk.removed.push_back(i);
        return;
    }
    if (pair.vetoed) {  // looked at only to notice when they part
        wait_until_moved(i);
        return;
    }
    const Vec3 between = pair.b ? to_float(b.position - a.position) : Vec3{};
    const Vec3 relative = b.velocity - a.velocity;
    const float travel = length(relative) * dt_;
    const float radius_b = pair.b ? b.radius : 0;
    const float motion = travel + spin_motion_[std::size_t(pair.a)] + spin_motion_[std::size_t(pair.b)];
    const float spins = motion - travel;
    const float margin = kMargin + (spins < kMostMotion ? spins : kMostMotion);
    const Vec3 ahead = relative * (travel > kMostMotion ? kMostMotion / travel * dt_ : dt_);
    if (pair.b) {
        float gap = -1, after = -1;  // now, and at the end of the step
        for (int k = 0; k < 3; k++) {
            const float above = between[k] + b.lo[k] - a.hi[k], below = a.lo[k] - between[k] - b.hi[k];
            gap = above > gap ? above : gap;
            gap = below > gap ? below : gap;
            const float up = above + (ahead[k] < 0 ? ahead[k] : 0),
                        down = below - (ahead[k] > 0 ? ahead[k] : 0);
            after = up > after ? up : after;
            after = down > after ? down : after;
        }
        if (after > margin) {
            if (pair.first >= 0) {
                chunk.cleared.push_back(i);
                lose(chunk, pair);
            }
            pair.touching = false;
            pair.budget = -1;
            wait_for(i, gap - kMargin);
            return;
        }
    }
    const Mat3 turn = pair.b ? mul_transposed(a.rotation, b.rotation) : transposed(a.rotation);
    const Vec3 offset = mul_transposed(a.rotation, between);  // centre to centre, axes of a

    bool anew = true;
    if (pair.budget >= 0) {
        const Vec3 moved = pair.b ? offset - pair.offset : to_float(a.position - pair.position);
        const float used = length(moved) + turn_between(turn, pair.turn) * (pair.b ? radius_b : a.radius);
        if (pair.touching) {
            anew = !(used < pair.budget && travel < kReuseTravel);
        } else {
            anew = !(used + motion < pair.budget);
            if (!anew) wait_for(i, pair.budget - used);
        }
    }
    const std::size_t first_found = chunk.manifolds.size();
    if (anew) {
        const bool was_touching = pair.touching;
        if (!collide(chunk, i, turn, offset, mul_transposed(a.rotation, ahead), margin,
                     kWorldReach + 2 * motion)) {
            chunk.tangled.push_back(i);
            return;
        }
        if (was_touching && !pair.touching) lose(chunk, pair);
        pair.turn = turn;
        pair.offset = offset;
        if (!pair.b) pair.position = a.position;
    }
    if (!pair.touching) return;
    chunk.active.push_back(i);
    chunk.hits += travel > kHitSpeed * dt_;
    const Vec3 now = pair.b ? offset : mul_transposed(a.rotation, to_float(pair.origin - a.position));
    if (anew)
        for (std::size_t m = first_found; m < chunk.manifolds.size(); m++) chunk.manifolds[m].offset = now;
    else
        for (std::int32_t m = pair.first; m >= 0; m = table_->manifolds[std::size_t(m)].next)
            table_->manifolds[std::size_t(m)].offset = now;
}

bool NarrowPhase::collide(Chunk& chunk, std::int32_t i, const Mat3& turn, Vec3 offset, Vec3 ahead,
                          float margin, float reach) {
    Pair& pair = table_->pairs[std::size_t(i)];
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    chunk.points.clear();
    float nearest;
    int found = 0;
    if (pair.b == 0) {
        if (a.round)
            realign_manifolds(table_->manifolds, pair.first, pair.turn, turn,
                              mul_transposed(a.rotation, to_float(pair.origin - a.position)));
        nearest = collide_world(chunk, pair, ahead, margin, reach);
        offset = mul_transposed(a.rotation, to_float(pair.origin - a.position));
        found = build_manifolds(chunk, pair, turn, offset + a.com);
    } else if (a.round || b.round) {
        const Vec3 apart = offset + a.com - turn * b.com;
        nearest = collide_round(*a.shape, *b.shape, turn, apart, margin + length(ahead), chunk.points);
        if (a.round) realign_manifolds(table_->manifolds, pair.first, pair.turn, turn, offset);
        found = build_manifolds(chunk, pair, turn, apart);
    } else {
        // From reference to reference.
        const Vec3 apart = offset + a.com - turn * b.com;
        const SharedAxes axes(turn, ahead);
        const BodyShape::Data &sa = *a.shape, &sb = *b.shape;
        nearest = -1;
        if (!sa.only_box() || !sb.only_box()) {
            SharedAxes::Separations unused;
            const Vec3 ca = (sa.lo + sa.hi) * 0.5f, cb = (sb.lo + sb.hi) * 0.5f;
            const float whole = axes.evaluate(turn * cb + apart - ca, (sa.hi - sa.lo) * 0.5f,
                                              (sb.hi - sb.lo) * 0.5f, margin, unused);
            if (whole > margin) nearest = whole;
        }
        if (nearest < 0) nearest = collide_shapes(sa, sb, turn, apart, axes, margin, chunk.points);
        if (is_tangled(chunk.points)) {
            if (!chunk.tangles) return false;
            untangle(sa, sb, turn, apart, axes, ways_of(pair, axes), chunk.points);
        }
        found = build_manifolds(chunk, pair, turn, apart);
    }
    chunk.found.push_back({i, found});
    pair.touching = found > 0;
    const float left = nearest - kMargin;
    // What is round rolls away under its contacts.
    const bool round = a.round || b.round;
    pair.budget = pair.touching ? (round ? -1 : kReuseMotion) : left > kLeastBudget ? left : kLeastBudget;
    wait_for(i, pair.touching ? 0 : pair.budget);
    return true;
}

/// What other bodies leave of the ways out of a tangle.
Ways NarrowPhase::ways_of(const Pair& pair, const SharedAxes& axes) const {
    constexpr float kInTheWay = 0.5f;  // cosine
    unsigned closed[2] = {0, 0};
    const Mat3& to_world = bodies_->hot[std::size_t(pair.a)].rotation;
    for (const int side : {0, 1}) {
        const std::int32_t body = side ? pair.b : pair.a;
        if (!bodies_->hot[std::size_t(body)].dynamic) closed[side] = ~0u;
        for (std::int32_t i = bodies_->hot[std::size_t(body)].first_pair; i >= 0;) {
            const Pair& p = table_->pairs[std::size_t(i)];
            i = p.next[p.a == body ? 0 : 1];
            if (&p == &pair) continue;
            for (std::int32_t m = p.first; m >= 0; m = table_->manifolds[std::size_t(m)].next) {
                const Manifold& q = table_->manifolds[std::size_t(m)];
                float push = 0;
                for (int k = 0; k < q.count; k++) push += q.points[k].impulse;
                if (!(push > 0)) continue;
                // Where b would go into it; for a, which goes the other way, reversed.
                const Vec3 into =
                    mul_transposed(to_world, bodies_->hot[std::size_t(p.a)].rotation * q.normal) *
                    ((p.a == body) == (side == 1) ? 1.0f : -1.0f);
                for (int way = 0; way < kWays; way++)
                    if (dot(into, direction_of(way, axes)) > kInTheWay) closed[side] |= 1u << way;
            }
        }
    }
    Ways ways{closed[0] & closed[1]};
    if (pair.first >= 0)
        if (const Manifold& m = table_->manifolds[std::size_t(pair.first)]; is_tangle(m.key)) {
            ways.going = m.key - kFirstTangleKey;
            ways.left = -m.points[0].separation;
        }
    return ways;
}

float NarrowPhase::collide_world(Chunk& chunk, Pair& pair, Vec3 ahead, float margin, float reach) {
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const float size = world_->cell_size;
    const float around = margin + length(ahead) + reach;
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
    // Where not all is known, a body looks again before it leaves what is.
    float nearest = world_->whole || around < size ? around : size;
    if (no_terrain || !world_->any()) return nearest;
    if (!pair.touching && reach > kFastReach && !world_->smooth && world_->whole) {
        // In flight: how far the nearest brick is will do for many steps.
        const DVec3 at = a.position;
        const float distance =
            world_->free_distance(at + to_double(a.lo), at + to_double(a.hi), 0.6f * kBrickEdge * size);
        if (distance > around) return distance;
    }

    const BodyShape::Data& shape = *a.shape;
    const Cell first = cell_at(lo), last = cell_at(hi);
    const Vec3 region_lo = to_float(lo - pair.origin), region_hi = to_float(hi - pair.origin);
    const SharedAxes axes(turn, ahead);
    each_tile(first, last, [&](const CellBox& cells) {
        chunk.patch.gather(*world_, pair.origin, home, cells, pass_soft, region_lo, region_hi);
        if (chunk.patch.solids.empty()) return;
        const std::size_t before = chunk.points.size();
        const float d =
            a.round ? collide_round(shape, chunk.patch, turn, offset, margin + length(ahead), chunk.points)
                    : collide_terrain(shape, chunk.patch, turn, offset, axes, margin, chunk.points);
        if (d < nearest) nearest = d;
        for (std::size_t i = before; i < chunk.points.size(); i++) {
            // Just inside the block that is touched.
            ContactPoint& p = chunk.points[i];
            const Vec3 inside = mul_transposed(turn, p.on_b + p.normal * 0.02f - offset);
            p.friction_b = chunk.patch.friction_at(*world_, home, inside);
        }
    });
    if (world_->smooth) {
        const std::size_t before = chunk.points.size();
        const float d =
            collide_smooth(*world_->smooth, a, size, margin + length(ahead), around, chunk.points);
        if (d < nearest) nearest = d;
        for (std::size_t i = before; i < chunk.points.size(); i++)
            chunk.points[i].friction_b = world_->smooth_friction;
    }
    return nearest;
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
int NarrowPhase::build_manifolds(Chunk& chunk, Pair& pair, const Mat3& turn, Vec3 offset) {
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    const std::int32_t old = pair.first;
    const std::vector<ContactPoint>& points = chunk.points;
    std::vector<std::int32_t>&left = chunk.left, &cluster = chunk.cluster;
    const std::size_t before = chunk.manifolds.size();
    left.resize(points.size());
    for (std::size_t i = 0; i < left.size(); i++) left[i] = std::int32_t(i);
    for (std::size_t n = left.size(); n > 0;) {
        std::int32_t deepest = left[0];
        for (std::size_t i = 1; i < n; i++)
            if (points[std::size_t(left[i])].separation < points[std::size_t(deepest)].separation)
                deepest = left[i];
        const ContactPoint& lead = points[std::size_t(deepest)];
        cluster.clear();
        std::size_t others = 0;
        for (std::size_t i = 0; i < n; i++) {
            const std::int32_t at = left[i];
            const ContactPoint& p = points[std::size_t(at)];
            if (p.key != lead.key && dot(p.normal, lead.normal) <= kSameNormal) {
                left[others++] = at;
                continue;
            }
            constexpr std::size_t kMostCompared = 64;  // beyond, pick_points() chooses far ones anyway
            bool same = false;
            for (std::size_t k = 0; k < cluster.size() && k < kMostCompared && !same; k++) {
                const ContactPoint& q = points[std::size_t(cluster[k])];
                const Vec3 e = q.on_a - p.on_a;
                if (dot(e, e) >= kSamePoint2) continue;
                same = true;
                if (p.separation < q.separation) cluster[k] = at;
            }
            if (!same) cluster.push_back(at);
        }
        n = others;
        const Vec3 t = std::fabs(lead.normal.x) < 0.6f ? Vec3{0, -lead.normal.z, lead.normal.y}
                                                       : Vec3{-lead.normal.y, lead.normal.x, 0};
        const Vec3 tangent = t * (1 / length(t));
        pick_points(points, cluster, lead.normal, tangent);

        Manifold& m = chunk.manifolds.emplace_back();
        m.a = pair.a;
        m.b = pair.b;
        m.normal = lead.normal;
        m.tangent = tangent;
        m.count = std::int32_t(cluster.size());
        m.key = lead.key;
        const float fa = friction_of(pair.a, lead.friction_a), fb = friction_of(pair.b, lead.friction_b);
        m.friction = std::sqrt(fa * fb);
        const float ea = bodies_->cold[std::size_t(pair.a)].restitution;
        const float eb = pair.b ? bodies_->cold[std::size_t(pair.b)].restitution : 0;
        m.restitution = ea > eb ? ea : eb;
        for (int k = 0; k < m.count; k++) {
            const ContactPoint& p = points[std::size_t(cluster[std::size_t(k)])];
            m.points[k].on_a = p.on_a - a.com;
            m.points[k].on_b = mul_transposed(turn, p.on_b - offset) - (pair.b ? b.com : Vec3{});
            m.points[k].separation = p.separation;
        }
        warm_start(m, old);
    }
    return int(chunk.manifolds.size() - before);
}

}  // namespace talus
