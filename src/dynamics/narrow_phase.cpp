#include "dynamics/narrow_phase.h"

#include "dynamics/jobs_in_chunks.h"
#include "dynamics/round_contact.h"
#include "dynamics/smooth_contact.h"

#include <algorithm>

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
constexpr std::size_t kChunk = 512;     // pairs, most of which wait
constexpr int kManyOf64 = 24;           // watched pairs, from which on all are gone through
constexpr std::size_t kBodyChunk = 512;
constexpr float kSameNormal = 0.985f;   // cosine above which normals are one
constexpr float kSamePoint2 = 0.0025f;  // squared distance below which points are one
constexpr float kWarmNormal = 0.9f;     // cosine above which impulses are handed on
constexpr float kWarmPoint2 = 0.02f;    // squared distance below which they are

void fetch(const void* at, int lines) {
    for (int line = 0; line < lines; line++) __builtin_prefetch(static_cast<const char*>(at) + 64 * line);
}

float largest(Vec3 v) {
    const float xy = v.x > v.y ? v.x : v.y;
    return xy > v.z ? xy : v.z;
}

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
    if (world.grid) world.grid->bricks();  // are in order before several threads look
    layers_ = layers;
    dt_ = dt;
    active.clear();
    beside_sleepers.clear();
    tangled_.clear();
    hits = 0;
    watch();
    glance_at_all(jobs);

    // Chunks with a pair to watch.
    const std::size_t n = table.waits.size();
    std::vector<std::int32_t>& due = list_;
    due.clear();
    table.watched.each_word([&](std::size_t word, std::uint64_t) {
        const auto chunk = std::int32_t(word / (kChunk / 64));
        if (due.empty() || due.back() != chunk) due.push_back(chunk);
    });
    const bool parallel = jobs && jobs->worker_count() > 1 && due.size() > 1;
    const std::size_t lists = parallel ? due.size() : 1;
    if (chunks_.size() < lists) chunks_.resize(lists);
    const std::size_t spare = due.size() + 1;  // lists of chunks from busier times go
    if (chunks_.size() > 2 * spare) chunks_.erase(chunks_.begin() + std::ptrdiff_t(spare), chunks_.end());
    in_chunks(parallel ? jobs : nullptr, due.size(), [&](std::size_t k) {
        Chunk& chunk = chunks_[parallel ? k : 0];
        const std::size_t first = std::size_t(due[k]) * kChunk;
        update_pairs(chunk, first, first + kChunk < n ? first + kChunk : n);
        if (parallel) return;
        commit(chunk);
        fill(chunk);
    });
    if (parallel) {
        for (std::size_t k = 0; k < due.size(); k++) commit(chunks_[k]);
        in_chunks(jobs, due.size(), [&](std::size_t k) { fill(chunks_[k]); });
    }
    if (!tangled_.empty()) collide_tangled();
}

/// Sets the table's `watched` right: what bodies did and which pairs were made since the last step.
void NarrowPhase::watch() {
    PairTable& table = *table_;
    const BitSet& now = bodies_->moving;
    if (table.renumbered) {
        table.watched.clear();
        moving_.clear();
    }
    auto look = [&](std::int32_t i) {
        const PairWait& w = table.waits[std::size_t(i)];
        table.watched.put(i, w.until != PairWait::kNever && (now[w.a] || now[w.b]));
    };
    BitSet::each_difference(now, moving_, [&](std::int32_t body) {
        for (std::int32_t i = bodies_->hot[std::size_t(body)].first_pair; i >= 0;) {
            const Pair& p = table.pairs[std::size_t(i)];
            look(i);
            i = p.next[p.a == body ? 0 : 1];
        }
    });
    if (!table.renumbered)
        for (const std::int32_t i : table.added) look(i);
    clear_scratch(table.added);
    table.renumbered = false;
    moving_ = now;
}

/// Of bodies that rest, what was seen before holds.
void NarrowPhase::glance_at_all(JobSystem* jobs) {
    const std::size_t known = glances_.size(), n = bodies_->way.size();
    reach_.resize(n);
    glances_.resize(n);
    states_.resize(n);
    list_.clear();
    for (std::size_t i = known; i < n; i++) list_.push_back(std::int32_t(i));
    for (const std::int32_t i : broad_->new_boxes()) glanced_.set(i);
    BitSet::each_of(glanced_, moving_, [&](std::int32_t i) {
        if (std::size_t(i) < known) list_.push_back(i);
    });
    glanced_ = moving_;
    for (const std::int32_t i : broad_->new_boxes()) glanced_.set(i);
    in_chunks(jobs, (list_.size() + kBodyChunk - 1) / kBodyChunk, [&](std::size_t c) {
        for (std::size_t k = c * kBodyChunk; k < (c + 1) * kBodyChunk && k < list_.size(); k++)
            glance(std::size_t(list_[k]));
    });
}

void NarrowPhase::drop_scratch() {
    drop(active);
    drop(beside_sleepers);
    drop(lost_support);
    drop(tangled_);
    drop(chunks_);
}

/// When all other contacts are known: they tell which ways are open.
void NarrowPhase::collide_tangled() {
    Chunk& chunk = chunks_[0];
    chunk.tangles = true;
    for (Anew& p : tangled_) {
        const Pair& pair = table_->pairs[std::size_t(p.pair)];
        p.active = std::int32_t(chunk.active.size());
        chunk.active.push_back({p.pair, pair.a, pair.b, kNoneFound});
        chunk.anew.push_back(p);
    }
    collide_anew(chunk);
    chunk.tangles = false;
    commit(chunk);
    fill(chunk);
    // Not std::inplace_merge: clang calls the memory it asks for deprecated.
    std::sort(active.begin(), active.end(),
              [](const ActivePair& x, const ActivePair& y) { return x.pair < y.pair; });
    std::sort(beside_sleepers.begin(), beside_sleepers.end());
}

/// Those that are due of the pairs first .. last - 1.
void NarrowPhase::update_pairs(Chunk& chunk, std::size_t first, std::size_t last) {
    chunk.todo.resize(kChunk);
    std::int32_t* const todo = chunk.todo.data();
    std::size_t n = 0;
    auto consider = [&](std::size_t i, bool watched) {  // no branch: which are due cannot be foreseen
        const PairWait& w = table_->waits[i];
        todo[n] = std::int32_t(i);
        n += watched & (reach_[std::size_t(w.a)] + reach_[std::size_t(w.b)] > w.until);
    };
    for (std::size_t i = first; i < last; i += 64) {
        std::uint64_t bits = table_->watched.word(i / 64);
        if (std::popcount(bits) > kManyOf64)
            for (std::size_t k = i; k < i + 64 && k < last; k++, bits >>= 1) consider(k, bits & 1);
        else
            for (; bits; bits &= bits - 1) consider(i + std::size_t(std::countr_zero(bits)), true);
    }
    for (std::size_t i = 0; i < n; i++) {
        if (i + 12 < n) {
            const PairWait& ahead = table_->waits[std::size_t(todo[i + 12])];
            fetch(&table_->pairs[std::size_t(todo[i + 12])], 2);
            fetch(&glances_[std::size_t(ahead.a)], 1);
            fetch(&glances_[std::size_t(ahead.b)], 1);
            fetch(&bodies_->hot[std::size_t(ahead.a)], 2);
            fetch(&bodies_->hot[std::size_t(ahead.b)], 2);
        }
        if (i + 4 < n) {
            const std::int32_t m = table_->pairs[std::size_t(todo[i + 4])].first;
            if (m >= 0) fetch(&table_->manifolds[std::size_t(m)].offset, 1);
        }
        look_at(chunk, todo[i]);
    }
    collide_anew(chunk);
}

void NarrowPhase::collide_anew(Chunk& chunk) {
    const std::size_t n = chunk.anew.size();
    for (std::size_t i = 0; i < n; i++) {
        if (i + 6 < n) {
            const Pair& ahead = table_->pairs[std::size_t(chunk.anew[i + 6].pair)];
            if (ahead.first >= 0) fetch(&table_->manifolds[std::size_t(ahead.first)], 4);
            for (const std::int32_t body : {ahead.a, ahead.b}) {
                const BodyHot& h = bodies_->hot[std::size_t(body)];
                fetch(&h.friction, 1);
                if (h.shape) fetch(h.shape, 3);
            }
        }
        if (i + 2 < n) {
            const Pair& ahead = table_->pairs[std::size_t(chunk.anew[i + 2].pair)];
            for (const std::int32_t body : {ahead.a, ahead.b})
                if (const BodyShape::Data* shape = bodies_->hot[std::size_t(body)].shape) {
                    fetch(shape->solids.data(), 2);
                    fetch(shape->cells.words.data(), 1);
                }
        }
        collide_anew(chunk, chunk.anew[i]);
    }
    chunk.anew.clear();
    // In the order of pairs, those that do not touch left out.
    std::size_t kept = 0;
    for (const ActivePair& p : chunk.active) {
        if (p.first == kNoneFound) continue;
        chunk.active[kept++] = p;
        if (p.b && (states_[std::size_t(p.a)] ^ states_[std::size_t(p.b)]) & kAsleep)
            chunk.beside_sleepers.push_back(p.pair);
    }
    chunk.active.resize(kept);
}

void NarrowPhase::glance(std::size_t i) {
    const BodyHot& h = bodies_->hot[i];
    const bool moves = bodies_->moving[std::int32_t(i)], awake = moves && h.dynamic,
               kinematic = moves && !awake;
    const float spin_motion = moves ? 0.5f * dt_ * length(h.spin) * h.radius : 0;
    glances_[i] = {h.position, h.lo, h.hi, h.velocity, spin_motion};
    states_[i] = std::uint8_t((awake ? kAwake : 0) | (h.asleep ? kAsleep : 0) | (kinematic ? kKinematic : 0) |
                              (i > 0 && h.exists && broad_->moved(std::int32_t(i)) ? kNewBox : 0));
    // What moves reaches at least a unit farther, so its pairs with what rests are looked at.
    reach_[i] = bodies_->way[i] + (moves ? BodyStore::to_way(dt_ * length(h.velocity) + spin_motion) : 0);
}

void NarrowPhase::join(std::int32_t body) {
    Chunk& chunk = chunks_[0];
    glance(std::size_t(body));
    glanced_.set(body);
    for (std::int32_t i = bodies_->hot[std::size_t(body)].first_pair; i >= 0;) {
        const Pair& p = table_->pairs[std::size_t(i)];
        const std::int32_t index = i, other = p.a == body ? p.b : p.a;
        i = p.next[p.a == body ? 0 : 1];
        // Pairs with what was awake before are in already.
        if (bodies_->moving[other]) continue;
        chunk.tangles = true;
        look_at(chunk, index);
        collide_anew(chunk);
        chunk.tangles = false;
        commit(chunk);
        fill(chunk);
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
    for (ActivePair& p : chunk.active) {
        if (p.first == kNotYetPlaced) p.first = table_->pairs[std::size_t(p.pair)].first;
        active.push_back(p);
    }
    lost_support.insert(lost_support.end(), chunk.lost_support.begin(), chunk.lost_support.end());
    beside_sleepers.insert(beside_sleepers.end(), chunk.beside_sleepers.begin(), chunk.beside_sleepers.end());
    tangled_.insert(tangled_.end(), chunk.tangled.begin(), chunk.tangled.end());
    hits += chunk.hits;
    chunk.hits = 0;
    chunk.active.clear();
    chunk.tangled.clear();
    for (auto* v : {&chunk.cleared, &chunk.removed, &chunk.beside_sleepers, &chunk.lost_support}) v->clear();
}

bool NarrowPhase::replace(Chunk& chunk, const Pair& pair, int count) {
    int had = 0;
    for (std::int32_t m = pair.first; m >= 0; m = table_->manifolds[std::size_t(m)].next) had++;
    if (had != count) return false;
    std::size_t from = chunk.manifolds.size() - std::size_t(count);
    for (std::int32_t at = pair.first; at >= 0; from++) {
        Manifold& m = table_->manifolds[std::size_t(at)];
        const std::int32_t next = m.next;
        m = chunk.manifolds[from];
        at = m.next = next;
    }
    chunk.manifolds.resize(chunk.manifolds.size() - std::size_t(count));
    return true;
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

/// From the centre of a body to where its anchors on the world are counted from, its axes.
Vec3 NarrowPhase::to_world_origin(std::int32_t body) const {
    const BodyHot& h = bodies_->hot[std::size_t(body)];
    return mul_transposed(h.rotation, to_float(bodies_->cold[std::size_t(body)].world_origin - h.position));
}

/// Most pairs need no more than this: they are still apart, or hold on to their contacts.
void NarrowPhase::look_at(Chunk& chunk, std::int32_t i) {
    Pair& pair = table_->pairs[std::size_t(i)];
    const std::uint8_t state_a = states_[std::size_t(pair.a)], state_b = states_[std::size_t(pair.b)];
    if (!((state_a | state_b) & kAwake)) {
        // A moving kinematic body must wake what sleeps on it.
        const bool pushed =
            (state_a & kAsleep && state_b & kKinematic) || (state_b & kAsleep && state_a & kKinematic);
        if (!pushed) {
            wait_until_moved(i);
            return;
        }
    }
    if (pair.b != 0 && (state_a | state_b) & kNewBox && !broad_->overlap(pair.a, pair.b)) {
        if (pair.touching) lose(chunk, pair);
        chunk.removed.push_back(i);
        return;
    }
    if (pair.vetoed) {  // looked at only to notice when they part
        wait_until_moved(i);
        return;
    }
    const Glance &ga = glances_[std::size_t(pair.a)], &gb = glances_[std::size_t(pair.b)];
    const Vec3 between = pair.b ? to_float(gb.position - ga.position) : Vec3{};
    const Vec3 relative = gb.velocity - ga.velocity;
    const float travel = length(relative) * dt_;
    const float motion = travel + ga.spin_motion + gb.spin_motion;
    const float spins = motion - travel;
    const float margin = kMargin + (spins < kMostMotion ? spins : kMostMotion);
    const Vec3 ahead = relative * (travel > kMostMotion ? kMostMotion / travel * dt_ : dt_);
    if (pair.b) {
        // Gaps of the bounds along each axis, on either side: now, and at the end of the step.
        const Vec3 above = between + gb.lo - ga.hi, below = ga.lo - between - gb.hi, none;
        const float gap = largest(max(above, below)),
                    after = largest(max(above + min(ahead, none), below - max(ahead, none)));
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
    const BodyHot &a = bodies_->hot[std::size_t(pair.a)], &b = bodies_->hot[std::size_t(pair.b)];
    const Mat3 turn = pair.b ? mul_transposed(a.rotation, b.rotation) : transposed(a.rotation);
    const Vec3 offset = mul_transposed(a.rotation, between);  // centre to centre, axes of a
    bool anew = pair.budget < 0 || (pair.touching && !(travel < kReuseTravel));
    if (!anew) {
        const Vec3 moved = pair.b ? offset - pair.offset
                                  : to_float(a.position - bodies_->cold[std::size_t(pair.a)].world_position);
        const float used = length(moved) + turn_between(turn, pair.turn) * (pair.b ? b.radius : a.radius);
        anew = !(used + (pair.touching ? 0 : motion) < pair.budget);
        if (!anew && !pair.touching) wait_for(i, pair.budget - used);
    }
    if (anew) {
        chunk.anew.push_back({i, std::int32_t(chunk.active.size()), turn, offset,
                              mul_transposed(a.rotation, ahead), margin, kWorldReach + 2 * motion, travel});
        chunk.active.push_back({i, pair.a, pair.b, kNoneFound});
        return;
    }
    if (!pair.touching) return;
    chunk.active.push_back({i, pair.a, pair.b, pair.first});
    chunk.hits += travel > kHitSpeed * dt_;
    const Vec3 now = pair.b ? offset : to_world_origin(pair.a);
    for (std::int32_t m = pair.first; m >= 0; m = table_->manifolds[std::size_t(m)].next)
        table_->manifolds[std::size_t(m)].offset = now;
}

void NarrowPhase::collide_anew(Chunk& chunk, const Anew& p) {
    Pair& pair = table_->pairs[std::size_t(p.pair)];
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const bool was_touching = pair.touching;
    const std::size_t first_found = chunk.manifolds.size();
    const int found = collide(chunk, p.pair, p.turn, p.offset, p.ahead, p.margin, p.reach);
    if (found < 0) {
        chunk.tangled.push_back(p);
        return;
    }
    if (was_touching && !pair.touching) lose(chunk, pair);
    pair.turn = p.turn;
    pair.offset = p.offset;
    if (!pair.b) bodies_->cold[std::size_t(pair.a)].world_position = a.position;
    const Vec3 now = pair.b ? p.offset : to_world_origin(pair.a);
    for (std::size_t m = first_found; m < chunk.manifolds.size(); m++) chunk.manifolds[m].offset = now;
    const bool in_place = !chunk.tangles && replace(chunk, pair, found);
    if (!in_place) chunk.found.push_back({p.pair, found});
    if (!pair.touching) return;
    chunk.active[std::size_t(p.active)].first = in_place ? pair.first : kNotYetPlaced;
    chunk.hits += p.travel > kHitSpeed * dt_;
}

int NarrowPhase::collide(Chunk& chunk, std::int32_t i, const Mat3& turn, Vec3 offset, Vec3 ahead,
                         float margin, float reach) {
    Pair& pair = table_->pairs[std::size_t(i)];
    const BodyHot& a = bodies_->hot[std::size_t(pair.a)];
    const BodyHot& b = bodies_->hot[std::size_t(pair.b)];
    chunk.points.clear();
    float nearest;
    int found = 0;
    if (pair.b == 0) {
        if (a.round)
            realign_manifolds(table_->manifolds, pair.first, pair.turn, turn, to_world_origin(pair.a));
        nearest = collide_world(chunk, pair, ahead, margin, reach);
        offset = to_world_origin(pair.a);
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
            float apart_by;
            if (!axes.near(turn * cb + apart - ca, (sa.hi - sa.lo) * 0.5f, (sb.hi - sb.lo) * 0.5f, margin,
                           unused, apart_by))
                nearest = apart_by;
        }
        if (nearest < 0) nearest = collide_shapes(sa, sb, turn, apart, axes, margin, chunk.points);
        if (is_tangled(chunk.points)) {
            if (!chunk.tangles) return kPutOff;
            untangle(sa, sb, turn, apart, axes, ways_of(pair, axes), chunk.points);
        }
        found = build_manifolds(chunk, pair, turn, apart);
    }
    pair.touching = found > 0;
    const float left = nearest - kMargin;
    // What is round rolls away under its contacts.
    const bool round = a.round || b.round;
    pair.budget = pair.touching ? (round ? -1 : kReuseMotion) : left > kLeastBudget ? left : kLeastBudget;
    wait_for(i, pair.touching ? 0 : pair.budget);
    return found;
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
    const DVec3 origin{home.x * double(size), home.y * double(size), home.z * double(size)};
    bodies_->cold[std::size_t(pair.a)].world_origin = origin;
    const Mat3 turn = transposed(a.rotation);
    const Vec3 offset = mul_transposed(a.rotation, to_float(origin - a.position)) + a.com;
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
    const Vec3 region_lo = to_float(lo - origin), region_hi = to_float(hi - origin);
    const SharedAxes axes(turn, ahead);
    auto collide_cells = [&](const CellBox& cells, std::span<const CellBox> only) {
        chunk.patch.gather(*world_, origin, home, cells, pass_soft, region_lo, region_hi, only);
        if (chunk.patch.solids.empty()) return;
        const std::size_t before = chunk.points.size();
        const float d =
            a.round ? collide_round(shape, chunk.patch, turn, offset, margin + length(ahead), chunk.points)
                    : collide_terrain(shape, chunk.patch, turn, offset, axes, margin, around, chunk.points);
        if (d < nearest) nearest = d;
        for (std::size_t i = before; i < chunk.points.size(); i++) {
            // Just inside the block that is touched.
            ContactPoint& p = chunk.points[i];
            const Vec3 inside = mul_transposed(turn, p.on_b + p.normal * 0.02f - offset);
            p.friction_b = sane_friction(chunk.patch.friction_at(*world_, home, inside));
        }
    };
    if (shape.bricks && world_->grid && !(world_->has_ground && lo.y < world_->ground))
        chunk.near.each_tile(*world_, {shape, turn, offset, home, axes, around}, first, last,
                             [&] { collide_cells(chunk.near.bounds, chunk.near.boxes); });
    else
        each_tile(*world_, first, last, [&](const CellBox& cells) { collide_cells(cells, {}); });
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
    // Of many, pick_points() chooses such as are far from each other anyway.
    const std::size_t most_compared = points.size() > 64 ? 8 : 64;
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
            bool same = false;
            for (std::size_t k = 0; k < cluster.size() && k < most_compared && !same; k++) {
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
        const float ea = a.restitution, eb = pair.b ? b.restitution : 0;
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
