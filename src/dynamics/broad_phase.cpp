#include "dynamics/broad_phase.h"

#include "dynamics/jobs_in_chunks.h"

#include <algorithm>

namespace talus {

namespace {
constexpr float kFat = 0.1f;      // margin of a fat box, metres
constexpr float kStepsAhead = 2;  // of motion
constexpr float kSlabDepth = 6;   // metres, about
constexpr int kMostSlabs = 64;
constexpr std::size_t kFatChunk = 512;         // bodies
constexpr std::uint32_t kSortPairsEvery = 32;  // updates
constexpr double kOriginReach = 2048;          // the origin is moved when the bodies' middle is this far off
constexpr float kCoarse = 2.4e-7f;             // two ulps of a float, as a share
}  // namespace

void BroadPhase::add(std::int32_t body) {
    const auto i = std::size_t(body);
    if (fat_.size() <= i) {
        fat_.resize(i + 1);
        before_.resize(i + 1);
        moved_.resize(i + 1, 0);
        stale_.resize(i + 1, 0);
    }
    stale_[i] = 1;
    order_.push_back(body);
    many_new_ = true;
}

void BroadPhase::purge(const BodyStore& bodies) {
    std::erase_if(order_, [&](std::int32_t i) { return !bodies.hot[std::size_t(i)].exists; });
}

bool BroadPhase::choose_origin(const BodyStore& bodies) {
    // The middle of all bodies, to whole kilometres; a few far ones do not matter: their boxes are coarser.
    DVec3 sum;
    for (const std::int32_t i : order_) sum += bodies.hot[std::size_t(i)].position;
    const DVec3 middle = sum / double(order_.size());
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

void BroadPhase::sort_by_x() {
    auto before = [&](std::int32_t a, std::int32_t b) {
        const float x = fat_[std::size_t(a)].lo.x, y = fat_[std::size_t(b)].lo.x;
        return x != y ? x < y : a < b;
    };
    if (many_new_) {
        std::sort(order_.begin(), order_.end(), before);
        many_new_ = false;
        return;
    }
    for (std::size_t i = 1; i < order_.size(); i++) {  // nearly sorted: by insertion
        const std::int32_t body = order_[i];
        std::size_t j = i;
        for (; j > 0 && before(body, order_[j - 1]); j--) order_[j] = order_[j - 1];
        order_[j] = body;
    }
}

int BroadPhase::slab_of(float z) const {
    const float s = (z - first_z_) * slabs_per_metre_;
    if (!(s > 0)) return 0;
    return s >= float(slab_count_) ? slab_count_ - 1 : int(s);
}

void BroadPhase::update(BodyStore& bodies, PairTable& table, const std::uint16_t (&layers)[16], float dt,
                        JobSystem* jobs) {
    if (order_.empty()) return;
    const bool all = choose_origin(bodies);
    auto refit = [&](std::int32_t body) {
        const auto i = std::size_t(body);
        if (moved_[i]) before_[i] = fat_[i];
        moved_[i] = 0;
        const BodyHot& b = bodies.hot[i];
        if (b.asleep && !stale_[i] && !all) return;
        const Vec3 at = to_float(b.position - origin_);
        const Fat& f = fat_[i];
        bool out = all || stale_[i];
        for (int k = 0; k < 3; k++) {  // now, and at the end of this step
            const float ahead = b.velocity[k] * dt;
            out |= at[k] + b.lo[k] + (ahead < 0 ? ahead : 0) < f.lo[k] ||
                   at[k] + b.hi[k] + (ahead > 0 ? ahead : 0) > f.hi[k];
        }
        if (!out) return;
        if (all || stale_[i])
            before_[i] = {{kNowhere, kNowhere, kNowhere}, {-kNowhere, -kNowhere, -kNowhere}};
        fatten(b, i, dt);
        moved_[i] = 1;
        stale_[i] = 0;
    };
    const std::size_t n = order_.size();
    in_chunks(jobs, (n + kFatChunk - 1) / kFatChunk, [&](std::size_t chunk) {
        for (std::size_t k = chunk * kFatChunk; k < (chunk + 1) * kFatChunk && k < n; k++) refit(order_[k]);
    });
    bool any = false;
    float z0 = 1e30f, z1 = -1e30f;
    for (const std::int32_t body : order_) {
        const Fat& f = fat_[std::size_t(body)];
        any |= moved_[std::size_t(body)] != 0;
        z0 = f.lo.z < z0 ? f.lo.z : z0;
        z1 = f.hi.z > z1 ? f.hi.z : z1;
    }
    if (!any) return;
    sort_by_x();
    if (++updates_ % kSortPairsEvery == 0)
        table.sort(
            [&](std::int32_t body, std::int32_t head) { bodies.hot[std::size_t(body)].first_pair = head; });

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
    for (int s = 0; s < slab_count_; s++)
        for (const NewPair& f : slabs_[std::size_t(s)].found) {
            table.add(f.a, f.b, bodies.hot[std::size_t(f.a)].first_pair,
                      bodies.hot[std::size_t(f.b)].first_pair);
            new_pairs.push_back(f);
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
                const BodyHot &ha = bodies.hot[std::size_t(a)], &hb = bodies.hot[std::size_t(b)];
                if (!ha.dynamic && !hb.dynamic) continue;
                if (!(layers[ha.layer] >> hb.layer & 1)) continue;
                if (table.find(a, b) < 0) slab.found.push_back({a, b});
            }
        }
    }
}

}  // namespace talus
