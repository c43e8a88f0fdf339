#include "dynamics/sweep.h"

#include "dynamics/box_contact.h"
#include "dynamics/jobs_in_chunks.h"
#include "dynamics/round_contact.h"
#include "dynamics/smooth_contact.h"
#include "dynamics/untangle.h"

namespace talus {

namespace {

constexpr float kSkin = 0.04f;       // boxes are shrunk by this, or by what a thin one allows
constexpr float kTouch = 0.01f;      // gap of shrunk boxes that counts as a hit
constexpr float kSlowShare = 0.25f;  // of the body's thinnest edge: slower bodies need no sweep
constexpr int kMostSteps = 48;
constexpr std::size_t kChunk = 32;  // fast bodies

float shrunk(float half) { return half - (half > 2 * kSkin ? kSkin : 0.5f * half); }
Vec3 shrunk(Vec3 half) { return {shrunk(half.x), shrunk(half.y), shrunk(half.z)}; }

/// Between two attitudes, s = 0 .. 1; the angle between them is below pi.
Quat blend(Quat a, Quat b, float s) {
    const float sign = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0 ? -1.0f : 1.0f;
    const float t = 1 - s, u = s * sign;
    return normalized(Quat{a.x * t + b.x * u, a.y * t + b.y * u, a.z * t + b.z * u, a.w * t + b.w * u});
}

struct Mover {
    std::span<const CollisionBox> boxes;
    Vec3 lo, hi;  // of a: bounds
    std::span<const BoxGroup> groups = {};
    const BodyShape::Data* round = nullptr;  // a ball or capsule: its one box is only around it
};
const BodyShape::Data* round_or_null(const BodyShape::Data& shape) {
    return shape.is_round() ? &shape : nullptr;
}

/// Gap of two movers of which one is round, and its axis from a to b, in a's frame.
float round_gap(const Mover& a, std::size_t ia, const Mover& b, std::size_t ib, const Mat3& turn, Vec3 offset,
                Vec3& axis) {
    Vec3 out;
    if (!a.round) {
        const RoundCore core = moved(core_of(*b.round), turn, offset);
        const float gap = distance_to_box(core, a.boxes[ia].center, shrunk(a.boxes[ia].half), axis);
        return gap - shrunk(core.radius);
    }
    const RoundCore core = core_of(*a.round);
    if (!b.round) {
        const Mat3 back = transposed(turn);
        const float gap = distance_to_box(moved(core, back, -(back * offset)), b.boxes[ib].center,
                                          shrunk(b.boxes[ib].half), out);
        axis = -(turn * out);
        return gap - shrunk(core.radius);
    }
    const RoundCore other = moved(core_of(*b.round), turn, offset);
    Vec3 on_a, on_b;
    const float gap = distance_of_cores(core, other, on_a, on_b);
    axis = gap > 0 ? (on_b - on_a) / gap : Vec3{0, 1, 0};
    return gap - shrunk(core.radius) - shrunk(other.radius);
}

/// Share of the step until shrunk boxes of a and b meet; 1: never.
/// @param place  place(s, turn, offset): b's reference seen from a's, at share s
/// @param step  motion of b relative to a over the whole step, world axes
/// @param slack  what turning adds to any closing speed, metres over the step
template <class Place>
float advance(const Mover& a, const Mover& b, Place&& place, Vec3 step, float slack) {
    const float fastest = slack + length(step);  // no gap closes faster
    float s = 0;
    for (int n = 0; n < kMostSteps; n++) {
        Mat3 turn, world_to_a;
        Vec3 offset;
        place(s, turn, offset, world_to_a);
        const SharedAxes axes(turn);
        const Vec3 step_in_a = world_to_a * step;
        float go = 1 - s;
        bool hit = false;
        for (std::size_t ib = 0; ib < b.boxes.size() && !hit; ib++) {
            const Vec3 center = turn * b.boxes[ib].center + offset, half = b.boxes[ib].half;
            const Vec3 half_b = shrunk(half);
            Vec3 extent;
            for (int k = 0; k < 3; k++)
                extent[k] = std::fabs(turn.m[k][0]) * half.x + std::fabs(turn.m[k][1]) * half.y +
                            std::fabs(turn.m[k][2]) * half.z;
            // Too far to matter, as bounds tell.
            auto far = [&](Vec3 lo, Vec3 hi) {
                const float gap = gap_between(lo, hi, center, extent);
                return gap > kTouch && gap - 0.5f * kTouch >= go * fastest;
            };
            if (far(a.lo, a.hi)) continue;
            for (std::size_t ia = 0; ia < a.boxes.size(); ia++) {
                if (!a.groups.empty() && ia % BoxGroup::kSize == 0) {
                    const BoxGroup& g = a.groups[ia / BoxGroup::kSize];
                    if (far(g.lo, g.hi)) {
                        ia += BoxGroup::kSize - 1;
                        continue;
                    }
                }
                Vec3 axis;
                const float gap = a.round || b.round ? round_gap(a, ia, b, ib, turn, offset, axis)
                                                     : axes.best_axis(center - a.boxes[ia].center,
                                                                      shrunk(a.boxes[ia].half), half_b, axis);
                const float closing = slack - dot(step_in_a, axis);
                if (gap <= kTouch) {
                    // Parting or sliding, or inside already: for the solver to mend.
                    if (-dot(step_in_a, axis) <= kTouch || (s == 0 && gap < -kSkin)) continue;
                    hit = true;
                    break;
                }
                if (closing > 0 && (gap - 0.5f * kTouch) < go * closing) go = (gap - 0.5f * kTouch) / closing;
            }
        }
        if (hit) return s;
        s += go;
        if (s >= 1) return 1;
    }
    return s;
}

/// The solids of a shape in these bounds, about its reference: all of a small one.
const SolidPart& solids_in(const BodyShape::Data& shape, Vec3 lo, Vec3 hi, SolidPart& near) {
    if (!shape.bricks) return shape;
    near.solids.clear();
    shape.each_solid_near(lo, hi, [&](const CollisionBox& box) { near.solids.push_back(box); });
    near.measure();
    return near;
}

}  // namespace

bool Sweep::needed(const BodyHot& body, float travel) {
    return travel > kSlowShare * body.thickness && body.thickness > 0;
}

Sweep::Path Sweep::path_of(const BodyStore& bodies, std::int32_t body) const {
    const BodyHot& h = bodies.hot[std::size_t(body)];
    const BodyCold& c = bodies.cold[std::size_t(body)];
    const std::int32_t d = departure_of_[std::size_t(body)];
    Path p{h.position, {}, c.rotation, c.rotation, {}, 0};
    if (d < 0) return p;
    const Departure& from = (*moved_)[std::size_t(d)];
    p.from = from.position;
    p.step = to_float(h.position - from.position);
    p.q0 = from.rotation;
    const float cosine = std::fabs(p.q0.x * p.q1.x + p.q0.y * p.q1.y + p.q0.z * p.q1.z + p.q0.w * p.q1.w);
    p.angle = std::sqrt(cosine < 1 ? 8 * (1 - cosine) : 0.0f) * 1.1f;
    return p;
}

float Sweep::against_body(const BodyStore& bodies, std::int32_t a, std::int32_t b, Chunk& chunk) const {
    const BodyHot &ha = bodies.hot[std::size_t(a)], &hb = bodies.hot[std::size_t(b)];
    const Path pa = path_of(bodies, a), pb = path_of(bodies, b);
    const Vec3 step = pb.step - pa.step;
    const float slack = pa.angle * ha.radius + pb.angle * hb.radius;
    const Vec3 start = to_float(pb.from - pa.from);
    if (!ha.shape->has_solids() || !hb.shape->has_solids()) return 1;
    // Balls around both that never meet.
    const float reach = ha.radius + hb.radius;
    const float along = dot(start, step), square = dot(step, step);
    const float nearest = along < 0 && square > 0 ? (along + square < 0 ? 1.0f : -along / square) : 0.0f;
    const Vec3 closest = start + step * nearest;
    if (dot(closest, closest) > reach * reach) return 1;
    // What the path of the other's ball can reach, in its own axes at the start.
    auto reached = [&](const BodyHot& h, const Path& own, Vec3 from, Vec3 way, float other_radius,
                       SolidPart& near) -> const SolidPart& {
        const Mat3 to_own = transposed(to_matrix(own.q0));
        const Vec3 p = to_own * from + h.com, q = to_own * (from + way) + h.com;
        const float r = other_radius + slack + kSkin;
        return solids_in(*h.shape, min(p, q) - Vec3{r, r, r}, max(p, q) + Vec3{r, r, r}, near);
    };
    const SolidPart& near_a = reached(ha, pa, start, step, hb.radius, chunk.near_a);
    const SolidPart& near_b = reached(hb, pb, -start, -step, ha.radius, chunk.near_b);
    return advance(
        {near_a.solids, near_a.lo, near_a.hi, near_a.groups, round_or_null(*ha.shape)},
        {near_b.solids, {}, {}, {}, round_or_null(*hb.shape)},
        [&](float s, Mat3& turn, Vec3& offset, Mat3& world_to_a) {
            const Mat3 ra = to_matrix(blend(pa.q0, pa.q1, s)), rb = to_matrix(blend(pb.q0, pb.q1, s));
            world_to_a = transposed(ra);
            turn = mul_transposed(ra, rb);
            offset = mul_transposed(ra, start + step * s) + ha.com - turn * hb.com;
        },
        step, slack);
}

float Sweep::against_world(const BodyStore& bodies, const WorldSolids& world,
                           const std::uint16_t (&layers)[16], std::int32_t a, Chunk& chunk) const {
    TerrainPatch& patch = chunk.patch;
    const BodyHot& h = bodies.hot[std::size_t(a)];
    if (!world.any() || !(layers[h.layer] >> int(Layer::terrain) & 1)) return 1;
    const Path p = path_of(bodies, a);
    const double size = double(world.cell_size);
    if (world.smooth) {
        // A ball inside the thinnest edge must not get under the surface.
        const float travel = length(p.step), inner = 0.25f * h.thickness;
        const Vec3 d = travel > 0 ? p.step / travel : Vec3{};
        const auto start = world.smooth->surface_near(p.from, inner);
        Vec3 out;
        if (travel > 0 && !start) {
            const float t = march_to(*world.smooth, p.from, d, travel, inner, world.cell_size, out);
            if (t < travel) return t / travel;  // blocks beyond do not matter: the next step looks again
        }
    }
    if (!world.grid && !world.has_ground) return 1;
    // The region is walked in pieces of the path, so that each fits a patch.
    const float longest = float(size) * 8;
    const float travel = length(p.step);
    const int pieces = travel > longest ? int(travel / longest) + 1 : 1;
    for (int piece = 0; piece < pieces; piece++) {
        const float s0 = float(piece) / float(pieces), s1 = float(piece + 1) / float(pieces);
        const DVec3 from = p.from + to_double(p.step * s0), to = p.from + to_double(p.step * s1);
        const double r = double(h.radius) + double(kSkin);
        const DVec3 reach{r, r, r};
        const DVec3 lo = min(from, to) - reach, hi = max(from, to) + reach;
        auto cell_at = [&](DVec3 q) {
            return Cell{int(std::floor(q.x / size)), int(std::floor(q.y / size)),
                        int(std::floor(q.z / size))};
        };
        if (std::fabs(lo.x) > 2e9 * size || std::fabs(lo.y) > 2e9 * size || std::fabs(lo.z) > 2e9 * size)
            return 1;
        const Cell home = cell_at(from);
        const DVec3 origin{home.x * size, home.y * size, home.z * size};
        const Cell first = cell_at(lo), last = cell_at(hi);
        float best = 1;
        const float turned = p.angle * h.radius;
        const Mat3 to_own = transposed(to_matrix(p.q0));
        auto sweep_cells = [&](const CellBox& cells, std::span<const CellBox> only) {
            patch.gather(world, origin, home, cells, !(layers[h.layer] >> int(Layer::soft_terrain) & 1),
                         to_float(lo - origin), to_float(hi - origin), only);
            if (patch.solids.empty()) return;
            const Vec3 start = to_float(origin - from), step = -(p.step * (s1 - s0));
            // What this patch can reach on the way, in axes of the start.
            Vec3 low = patch.solids[0].center - patch.solids[0].half,
                 high = patch.solids[0].center + patch.solids[0].half;
            for (const CollisionBox& box : patch.solids) {
                low = min(low, box.center - box.half);
                high = max(high, box.center + box.half);
            }
            const Vec3 middle = (low + high) * 0.5f + start + step * 0.5f;
            Vec3 half = (high - low) * 0.5f, around;
            for (int k = 0; k < 3; k++) half[k] += 0.5f * std::fabs(step[k]);
            for (int k = 0; k < 3; k++)
                around[k] = turned + kSkin + std::fabs(to_own.m[k][0]) * half.x +
                            std::fabs(to_own.m[k][1]) * half.y + std::fabs(to_own.m[k][2]) * half.z;
            const Vec3 at = to_own * middle + h.com;
            const SolidPart& near = solids_in(*h.shape, at - around, at + around, chunk.near_a);
            const float share = advance(
                {near.solids, near.lo, near.hi, near.groups, round_or_null(*h.shape)}, {patch.solids, {}, {}},
                [&](float s, Mat3& turn, Vec3& offset, Mat3& world_to_a) {
                    const Mat3 ra = to_matrix(blend(p.q0, p.q1, s0 + (s1 - s0) * s));
                    world_to_a = transposed(ra);
                    turn = world_to_a;
                    offset = mul_transposed(ra, start + step * s) + h.com;
                },
                step, p.angle * (s1 - s0) * h.radius);
            if (share < best) best = share;
        };
        if (h.shape->bricks && world.grid && !(world.has_ground && lo.y < world.ground)) {
            const SharedAxes axes(to_own);
            const Vec3 offset = to_own * to_float(origin - p.from) + h.com;
            chunk.near.each_tile(world, {*h.shape, to_own, offset, home, axes, travel * s1 + turned + kSkin},
                                 first, last, [&] { sweep_cells(chunk.near.bounds, chunk.near.boxes); });
        } else {
            each_tile(world, first, last, [&](const CellBox& cells) { sweep_cells(cells, {}); });
        }
        if (best < 1) return s0 + (s1 - s0) * best;
    }
    return 1;
}

void Sweep::slow_stuck(BodyStore& bodies, std::int32_t a, std::int32_t b) {
    auto moves = [&](std::int32_t i) { return i && bodies.awake(i); };
    auto mass_of = [&](std::int32_t i) { return moves(i) ? bodies.cold[std::size_t(i)].mass : 0; };
    const BodyHot &ha = bodies.hot[std::size_t(a)], &hb = bodies.hot[std::size_t(b)];
    const Vec3 vb = b ? hb.velocity : Vec3{};
    const float both = mass_of(a) + mass_of(b);
    if (!(both > 0)) return;
    // What does not move weighs more than anything.
    const Vec3 mean = !moves(a)   ? ha.velocity
                      : !moves(b) ? vb
                                  : (ha.velocity * mass_of(a) + vb * mass_of(b)) / both;
    for (const std::int32_t i : {a, b}) {
        if (!moves(i)) continue;
        BodyHot& h = bodies.hot[std::size_t(i)];
        h.velocity = (h.velocity + mean) * 0.5f;
        h.spin *= 0.5f;
    }
}

void Sweep::run(BodyStore& bodies, const PairTable& table, const WorldSolids& world,
                const std::uint16_t (&layers)[16], const std::vector<Departure>& moved,
                const std::vector<std::int32_t>& fast, JobSystem* jobs) {
    if (fast.empty()) return;
    moved_ = &moved;
    departure_of_.resize(bodies.hot.size(), -1);
    for (std::size_t i = 0; i < moved.size(); i++)
        departure_of_[std::size_t(moved[i].body)] = std::int32_t(i);
    share_.assign(moved.size(), 1);
    const std::size_t chunks = (fast.size() + kChunk - 1) / kChunk;
    if (chunks_.size() < chunks) chunks_.resize(chunks);
    in_chunks(jobs, chunks, [&](std::size_t c) {
        Chunk& chunk = chunks_[c];
        chunk.stops.clear();
        for (std::size_t k = c * kChunk; k < (c + 1) * kChunk && k < fast.size(); k++) {
            const std::int32_t f = fast[k], a = moved[std::size_t(f)].body;
            if (!bodies.cold[std::size_t(a)].continuous) continue;
            for (std::int32_t i = bodies.hot[std::size_t(a)].first_pair; i >= 0;) {
                const Pair& p = table.pairs[std::size_t(i)];
                const PairWait& wait = table.waits[std::size_t(i)];
                const int side = p.a == a ? 0 : 1;
                const std::int32_t b = side == 0 ? p.b : p.a;
                i = p.next[side];
                if (p.vetoed) continue;
                // Of a tangle the solver knows only the way out: what stopped it elsewhere would hold it.
                if (p.first >= 0 && is_tangle(table.manifolds[std::size_t(p.first)].key)) continue;
                // Farther apart than both went.
                if (bodies.way[std::size_t(p.a)] + bodies.way[std::size_t(p.b)] <= wait.until) continue;
                if (b == 0) {
                    const float share = against_world(bodies, world, layers, a, chunk);
                    if (share < 1) chunk.stops.push_back({f, share, a, 0});
                    continue;
                }
                const Path pa = path_of(bodies, a), pb = path_of(bodies, b);
                const float thin = bodies.hot[std::size_t(a)].thickness < bodies.hot[std::size_t(b)].thickness
                                       ? bodies.hot[std::size_t(a)].thickness
                                       : bodies.hot[std::size_t(b)].thickness;
                if (length(pa.step - pb.step) <= kSlowShare * thin) continue;
                const float share = against_body(bodies, a, b, chunk);
                if (share >= 1) continue;
                chunk.stops.push_back({f, share, a, b});
                const std::int32_t other = departure_of_[std::size_t(b)];
                if (other >= 0) chunk.stops.push_back({other, share, 0, 0});
            }
        }
    });
    for (std::size_t c = 0; c < chunks; c++)
        for (const Chunk::Stop& stop : chunks_[c].stops) {
            float& share = share_[std::size_t(stop.moved)];
            if (stop.share < share) share = stop.share;
            if (stop.share <= 0 && stop.body) slow_stuck(bodies, stop.body, stop.other);
        }
    for (std::size_t i = 0; i < moved.size(); i++) {
        if (share_[i] >= 1) continue;
        const Departure& d = moved[i];
        BodyHot& h = bodies.hot[std::size_t(d.body)];
        BodyCold& c = bodies.cold[std::size_t(d.body)];
        if (!h.dynamic) continue;
        h.position = d.position + (h.position - d.position) * double(share_[i]);
        c.rotation = blend(d.rotation, c.rotation, share_[i]);
        bodies.refresh_pose(d.body);
    }
    for (const Departure& d : moved) departure_of_[std::size_t(d.body)] = -1;
}

}  // namespace talus
