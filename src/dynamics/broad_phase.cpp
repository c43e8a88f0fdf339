#include "dynamics/broad_phase.h"

#include "dynamics/jobs_in_chunks.h"

#include <algorithm>

namespace talus {

namespace {
constexpr float kFat = 0.1f;      // margin of a fat box, metres
constexpr float kStepsAhead = 2;  // of motion
constexpr float kSlabDepth = 6;   // metres, about
constexpr int kMostSlabs = 64;
constexpr std::size_t kFatChunk = 512;        // bodies
constexpr std::size_t kFewShare = 16;         // one box in so many bodies, or fewer, is few
constexpr std::size_t kTreeShare = 40;        // one new box in so many bodies, or fewer: the tree is asked
constexpr std::size_t kTreeChunk = 8;         // of new boxes
constexpr int kMostScans = 8;                 // of all boxes, which cost as much as many new ones in the tree
constexpr std::uint32_t kSortPairsEvery = 4;  // rounds
constexpr double kOriginReach = 2048;         // the origin is moved when the bodies' middle is this far off
constexpr float kCoarse = 2.4e-7f;            // two ulps of a float, as a share
constexpr float kLoose = 0.01f;               // m: bounds of what left its box, with a little more
constexpr float kNowhere = 1e30f;
}  // namespace

void BroadPhase::add(std::int32_t body) {
    const auto i = std::size_t(body);
    if (fat_.size() <= i) {
        fat_.resize(i + 1);
        before_.resize(i + 1);
        moved_.resize(i + 1, 0);
        in_order_.resize(i + 1, 0);
    }
    touch(body);
    out_of_order_++;
    if (in_order_[i]) return;
    in_order_[i] = 1;
    order_.push_back(body);
}

void BroadPhase::remove(std::int32_t body) {
    stale_.reset(body);
    behind_.reset(body);
    strayed_.reset(body);
    tree_.remove(body);
}

bool BroadPhase::choose_origin(const BodyStore& bodies) {
    // The middle of all bodies, to whole kilometres; a few far ones do not matter: their boxes are coarser.
    DVec3 sum;
    for (std::size_t i = 1; i < bodies.hot.size(); i++)
        if (bodies.hot[i].exists) sum += bodies.hot[i].position;
    const DVec3 middle = sum / double(bodies.alive);
    const DVec3 off = middle - origin_;
    if (std::fabs(off.x) < kOriginReach && std::fabs(off.y) < kOriginReach && std::fabs(off.z) < kOriginReach)
        return false;
    origin_ = {std::floor(middle.x / 1024) * 1024, std::floor(middle.y / 1024) * 1024,
               std::floor(middle.z / 1024) * 1024};
    return true;
}

void BroadPhase::fatten(const BodyHot& body, std::size_t i, float dt) {
    const Vec3 at = to_float(body.position - origin_);
    Fat& f = fat_[i];
    for (int k = 0; k < 3; k++) {
        const float coarse = std::fabs(at[k]) * kCoarse;
        f.lo[k] = at[k] + body.lo[k] - kFat - coarse;
        f.hi[k] = at[k] + body.hi[k] + kFat + coarse;
        const float ahead = body.velocity[k] * dt * kStepsAhead;
        (ahead < 0 ? f.lo[k] : f.hi[k]) += ahead;
    }
}

/// order_ without what is gone, sorted.
void BroadPhase::fresh_order(const BodyStore& bodies) {
    std::erase_if(order_, [&](std::int32_t i) {
        const bool gone = !bodies.hot[std::size_t(i)].exists;
        if (gone) in_order_[std::size_t(i)] = 0;
        return gone;
    });
    auto before = [&](std::int32_t a, std::int32_t b) {
        const float x = fat_[std::size_t(a)].lo.x, y = fat_[std::size_t(b)].lo.x;
        return x != y ? x < y : a < b;
    };
    if (out_of_order_ * kFewShare > order_.size()) {
        std::sort(order_.begin(), order_.end(), before);
    } else {
        for (std::size_t i = 1; i < order_.size(); i++) {  // nearly sorted: by insertion
            const std::int32_t body = order_[i];
            std::size_t j = i;
            for (; j > 0 && before(body, order_[j - 1]); j--) order_[j] = order_[j - 1];
            order_[j] = body;
        }
    }
    out_of_order_ = 0;
}

int BroadPhase::slab_of(float z) const {
    const float s = (z - first_z_) * slabs_per_metre_;
    if (!(s > 0)) return 0;
    return s >= float(slab_count_) ? slab_count_ - 1 : int(s);
}

void BroadPhase::refit(const BodyHot& b, std::size_t i, float dt, bool all) {
    const bool stale = all || stale_[std::int32_t(i)];
    const Vec3 at = to_float(b.position - origin_);
    const Fat& f = fat_[i];
    bool out = stale;
    for (int k = 0; k < 3; k++) {  // now, and at the end of this step
        const float ahead = b.velocity[k] * dt;
        out |= at[k] + b.lo[k] + (ahead < 0 ? ahead : 0) < f.lo[k] ||
               at[k] + b.hi[k] + (ahead > 0 ? ahead : 0) > f.hi[k];
    }
    if (!out) return;
    if (stale) before_[i] = {{kNowhere, kNowhere, kNowhere}, {-kNowhere, -kNowhere, -kNowhere}};
    fatten(b, i, dt);
    moved_[i] = 1;
}

void BroadPhase::update(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], float dt,
                        JobSystem* jobs) {
    for (const std::int32_t body : new_boxes_) {
        before_[std::size_t(body)] = fat_[std::size_t(body)];
        moved_[std::size_t(body)] = 0;
    }
    clear_scratch(new_boxes_);
    clear_scratch(due_);
    BitSet::each_of(bodies.moving, stale_, [&](std::int32_t body) { due_.push_back(body); });
    auto refit_due = [&](bool all) {
        in_chunks(jobs, (due_.size() + kFatChunk - 1) / kFatChunk, [&](std::size_t chunk) {
            for (std::size_t k = chunk * kFatChunk; k < (chunk + 1) * kFatChunk && k < due_.size(); k++)
                refit(bodies.hot[std::size_t(due_[k])], std::size_t(due_[k]), dt, all);
        });
        new_boxes_.clear();
        for (const std::int32_t body : due_)
            if (moved_[std::size_t(body)]) new_boxes_.push_back(body);
    };
    refit_due(false);
    if (new_boxes_.empty()) return;
    bool sort_pairs = false;
    new_boxes_since_ += new_boxes_.size();
    if (new_boxes_since_ >= bodies.alive) {
        new_boxes_since_ = 0;
        if (choose_origin(bodies)) {
            due_.clear();
            for (std::int32_t i = 1; i < bodies.size(); i++)
                if (bodies.hot[std::size_t(i)].exists) due_.push_back(i);
            refit_due(true);
        }
        sort_pairs = ++rounds_ % kSortPairsEvery == 0;
    }
    if (sort_pairs || table.is_roomy())
        table.sort(
            [&](std::int32_t body, std::int32_t head) { bodies.hot[std::size_t(body)].first_pair = head; });
    stale_.clear();
    for (const std::int32_t body : new_boxes_) behind_.set(body);

    clear_scratch(found_);
    // Mending the tree after many had a new box costs some sweeps: not before it stays quiet.
    if (new_boxes_.size() * kTreeShare > bodies.alive)
        quiet_updates_ = 0;
    else if (quiet_updates_ <= kMostScans)
        quiet_updates_++;
    const bool mended = behind_.count() * kTreeShare <= bodies.alive;
    if (quiet_updates_ == 0 || (!mended && quiet_updates_ <= kMostScans))
        find_by_sweep(bodies, table, layers, jobs);
    else
        find_by_tree(bodies, table, layers, jobs);
    // From left to right, by where their boxes begin: in the order of bodies, walls and pyramids sway.
    const auto left_of = [&](std::int32_t i, std::int32_t j) {
        const float x = fat_[std::size_t(i)].lo.x, y = fat_[std::size_t(j)].lo.x;
        return x != y ? x < y : i < j;
    };
    std::sort(found_.begin(), found_.end(), [&](const NewPair& x, const NewPair& y) {
        const bool x_turned = left_of(x.b, x.a), y_turned = left_of(y.b, y.a);
        const std::int32_t x_left = x_turned ? x.b : x.a, y_left = y_turned ? y.b : y.a;
        if (x_left != y_left) return left_of(x_left, y_left);
        return left_of(x_turned ? x.a : x.b, y_turned ? y.a : y.b);
    });
    for (std::size_t k = 0; k < found_.size(); k++) {
        const NewPair& f = found_[k];
        if (k > 0 && found_[k - 1].a == f.a && found_[k - 1].b == f.b) continue;
        table.add(f.a, f.b, bodies.hot[std::size_t(f.a)].first_pair, bodies.hot[std::size_t(f.b)].first_pair);
        new_pairs.push_back(f);
    }
}

bool BroadPhase::may_pair(const BodyStore& bodies, const PairTable& table, const std::uint16_t (&layers)[16],
                          std::int32_t a, std::int32_t b) {
    const BodyHot &ha = bodies.hot[std::size_t(a)], &hb = bodies.hot[std::size_t(b)];
    return (ha.dynamic || hb.dynamic) && (layers[ha.layer] >> hb.layer & 1) && table.find(a, b) < 0;
}

void BroadPhase::find_by_tree(const BodyStore& bodies, const PairTable& table,
                              const std::uint16_t (&layers)[16], JobSystem* jobs) {
    put_behind();
    out_of_order_ += new_boxes_.size();
    const std::size_t n = new_boxes_.size(), chunks = (n + kTreeChunk - 1) / kTreeChunk;
    resize_scratch(found_in_, chunks);
    in_chunks(jobs, chunks, [&](std::size_t chunk) {
        std::vector<NewPair>& found = found_in_[chunk];
        found.clear();
        for (std::size_t k = chunk * kTreeChunk; k < (chunk + 1) * kTreeChunk && k < n; k++) {
            const std::int32_t i = new_boxes_[k];
            const Fat &now = fat_[std::size_t(i)], &before = before_[std::size_t(i)];
            tree_.each_in(now, [&](std::int32_t j) {
                if (i == j || !overlap(i, j) || before.meets(before_[std::size_t(j)])) return;
                const std::int32_t a = i > j ? i : j, b = i > j ? j : i;
                if (may_pair(bodies, table, layers, a, b)) found.push_back({a, b});
            });
        }
    });
    for (const std::vector<NewPair>& found : found_in_)
        found_.insert(found_.end(), found.begin(), found.end());
}

void BroadPhase::find_by_sweep(const BodyStore& bodies, const PairTable& table,
                               const std::uint16_t (&layers)[16], JobSystem* jobs) {
    fresh_order(bodies);
    float z0 = 1e30f, z1 = -1e30f;
    for (const std::int32_t body : order_) {
        const Fat& f = fat_[std::size_t(body)];
        z0 = f.lo.z < z0 ? f.lo.z : z0;
        z1 = f.hi.z > z1 ? f.hi.z : z1;
    }
    z0 = z0 < -512 ? -512 : z0;
    z1 = z1 > 512 ? 512 : z1;
    const float depth = z1 > z0 ? z1 - z0 : 0;
    const int wanted = int(depth / kSlabDepth);
    slab_count_ = wanted < 1 ? 1 : wanted > kMostSlabs ? kMostSlabs : wanted;
    first_z_ = z0;
    slabs_per_metre_ = float(slab_count_) / (depth > 1 ? depth : 1);
    slabs_.resize(std::size_t(kMostSlabs));
    for (Slab& slab : slabs_) clear_scratch(slab.bodies);
    for (int s = slab_count_; s < kMostSlabs; s++) slabs_[std::size_t(s)].give_back();
    for (const std::int32_t body : order_) {
        const Fat& f = fat_[std::size_t(body)];
        const int last = slab_of(f.hi.z);
        for (int s = slab_of(f.lo.z); s <= last; s++) slabs_[std::size_t(s)].bodies.push_back(body);
    }
    in_chunks(jobs, std::size_t(slab_count_),
              [&](std::size_t s) { sweep_slab(bodies, table, layers, int(s)); });
    for (int s = 0; s < slab_count_; s++) {
        const std::vector<NewPair>& in_slab = slabs_[std::size_t(s)].found;
        found_.insert(found_.end(), in_slab.begin(), in_slab.end());
    }
}

void BroadPhase::sweep_slab(const BodyStore& bodies, const PairTable& table,
                            const std::uint16_t (&layers)[16], int index) {
    Slab& slab = slabs_[std::size_t(index)];
    const std::vector<std::int32_t>& in = slab.bodies;
    clear_scratch(slab.found);
    const std::size_t n = in.size();
    constexpr std::size_t kPad = 16;  // reads run past the end
    Slab::Columns &now = slab.now, &before = slab.before;
    if (now.lo_x.size() < n + kPad || now.lo_x.size() > 2 * (n + kPad)) {
        if (now.lo_x.size() > n + kPad) slab.give_back();
        now.make_room(n + kPad);
        before.make_room(n + kPad);
        slab.moved_mask.resize(n + kPad);
    }
    std::int32_t* moved_mask = slab.moved_mask.data();
    for (std::size_t i = 0; i < n; i++) {
        now.set(i, fat_[std::size_t(in[i])]);
        before.set(i, before_[std::size_t(in[i])]);
        moved_mask[i] = moved_[std::size_t(in[i])] ? -1 : 0;
    }
    const Fat nowhere{{kNowhere, 0, 0}, {}};
    for (std::size_t i = n; i < n + kPad; i++) {
        now.set(i, nowhere);
        before.set(i, nowhere);
        moved_mask[i] = 0;
    }
    const float *lo_x = now.lo_x.data(), *hi_x = now.hi_x.data(), *lo_y = now.lo_y.data(),
                *hi_y = now.hi_y.data(), *lo_z = now.lo_z.data(), *hi_z = now.hi_z.data();
    for (std::size_t i = 0; i < n; i++) {
        const Float8 hx = simd::splat(hi_x[i]), ly = simd::splat(lo_y[i]), hy = simd::splat(hi_y[i]),
                     lz = simd::splat(lo_z[i]), hz = simd::splat(hi_z[i]);
        const int self_moved = moved_mask[i] ? 0xff : 0;
        for (std::size_t j = i + 1; j < n; j += 8) {
            const Mask8 in_x = simd::load(&lo_x[j]) <= hx;
            if (!bits(in_x)) break;
            const Mask8 hit = in_x & (simd::load(&lo_y[j]) <= hy) & (ly <= simd::load(&hi_y[j])) &
                              (simd::load(&lo_z[j]) <= hz) & (lz <= simd::load(&hi_z[j]));
            int m = bits(hit) & (self_moved | bits(simd::load_mask(&moved_mask[j])));
            if (!m) continue;
            m &= ~bits(before.meet(i, j));
            for (; m; m &= m - 1) {
                const std::size_t k = j + std::size_t(__builtin_ctz(unsigned(m)));
                // A pair in several slabs is made in the first they share.
                if (slab_of(lo_z[i] > lo_z[k] ? lo_z[i] : lo_z[k]) != index) continue;
                const std::int32_t a = in[i] > in[k] ? in[i] : in[k], b = in[i] > in[k] ? in[k] : in[i];
                if (may_pair(bodies, table, layers, a, b)) slab.found.push_back({a, b});
            }
        }
    }
}

void BroadPhase::put_behind() {
    behind_.each([&](std::int32_t i) { tree_.put(i, fat_[std::size_t(i)]); });
    behind_.clear();
}

/// A box of the world as the tree has them, rounded outwards.
Bounds BroadPhase::about_origin(DVec3 lo, DVec3 hi) const {
    Bounds b{to_float(lo - origin_), to_float(hi - origin_)};
    for (int k = 0; k < 3; k++) {
        b.lo[k] -= kLoose + std::fabs(b.lo[k]) * kCoarse;
        b.hi[k] += kLoose + std::fabs(b.hi[k]) * kCoarse;
        // What is no box may be anywhere.
        if (!(b.lo[k] <= b.hi[k])) b.lo[k] = -kNowhere, b.hi[k] = kNowhere;
    }
    return b;
}

/// False: it would cost more than to look at all bodies, and few have asked.
bool BroadPhase::bring_up_to_date(const BodyStore& bodies) {
    if ((behind_.count() + strayed_.count()) * kFewShare > bodies.alive && scans_ < kMostScans) {
        scans_++;
        return false;
    }
    scans_ = 0;
    put_behind();
    strayed_.each([&](std::int32_t i) {
        const BodyHot& h = bodies.hot[std::size_t(i)];
        const Bounds now = about_origin(h.position + to_double(h.lo), h.position + to_double(h.hi));
        if (!tree_.has(i))
            tree_.put(i, now);
        else if (!tree_.box(i).holds(now))
            tree_.put(i, tree_.box(i) | now);
    });
    strayed_.clear();
    return true;
}

template <class Meets>
std::vector<std::int32_t> BroadPhase::ask(const BodyStore& bodies, Meets&& meets) {
    std::vector<std::int32_t> found;
    if (!bring_up_to_date(bodies)) {
        for (std::int32_t i = 1; i < bodies.size(); i++)
            if (bodies.hot[std::size_t(i)].exists) found.push_back(i);
        return found;
    }
    tree_.each(meets, [&](std::int32_t i) { found.push_back(i); });
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::int32_t> BroadPhase::near_box(const BodyStore& bodies, const DBox& box) {
    const Bounds region = about_origin(box.min, box.max);
    return ask(bodies, [&](const Bounds& b) { return b.meets(region); });
}

std::vector<std::int32_t> BroadPhase::near_way(const BodyStore& bodies, DVec3 from, Vec3 direction,
                                               float distance, float radius) {
    const DVec3 start = from - origin_;
    return ask(bodies, [&](const Bounds& b) {
        // Where the way is between the box's sides, grown by the ball.
        double first = 0, last = double(distance);
        for (int k = 0; k < 3; k++) {
            const double lo = double(b.lo[k]) - double(radius) - start[k],
                         hi = double(b.hi[k]) + double(radius) - start[k], d = double(direction[k]);
            if (std::fabs(d) < 1e-30) {
                if (lo > 0 || hi < 0) return false;
                continue;
            }
            const double x = lo / d, y = hi / d;
            const double in = x < y ? x : y, out = x < y ? y : x;
            if (in > first) first = in;
            if (out < last) last = out;
        }
        return first <= last;
    });
}

}  // namespace talus
