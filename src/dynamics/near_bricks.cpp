#include "dynamics/near_bricks.h"

#include "math/cell_box.h"

namespace talus {

namespace {

/// Bounds by their middle.
struct Extent {
    Vec3 middle, half;
};

/// Clips to what is within `reach` of other bounds. @return whether anything is left
bool clip(Extent& to_clip, const Extent& other, float reach) {
    for (int k = 0; k < 3; k++) {
        const float r = other.half[k] + reach, lo = other.middle[k] - r, hi = other.middle[k] + r;
        const float a = to_clip.middle[k] - to_clip.half[k], b = to_clip.middle[k] + to_clip.half[k];
        const float from = a > lo ? a : lo, to = b < hi ? b : hi;
        if (!(from <= to)) return false;
        to_clip.middle[k] = (from + to) * 0.5f;
        to_clip.half[k] = (to - from) * 0.5f;
    }
    return true;
}

float largest(Vec3 v) {
    const float xy = v.x > v.y ? v.x : v.y;
    return xy > v.z ? xy : v.z;
}

Vec3 to_vec(Cell c) { return {float(c.x), float(c.y), float(c.z)}; }

/// What is left of a box between two heights: its bounds across. @return false: nothing
/// @param corners  bit k of their number: far along edge k
bool cut(const Vec3 (&corners)[8], float y0, float y1, Vec3& lo, Vec3& hi) {
    bool any = false;
    auto add = [&](Vec3 p) {
        lo = any ? min(lo, p) : p;
        hi = any ? max(hi, p) : p;
        any = true;
    };
    for (int i = 0; i < 8; i++)
        for (int edge = 1; edge < 8; edge *= 2) {
            if (i & edge) continue;
            const Vec3 &p = corners[i], &q = corners[i | edge];
            if ((p.y < y0 && q.y < y0) || (p.y > y1 && q.y > y1)) continue;
            auto at = [&](Vec3 from, Vec3 to) {
                const float y = from.y < y0 ? y0 : from.y > y1 ? y1 : from.y;
                return y == from.y ? from : from + (to - from) * ((y - from.y) / (to.y - from.y));
            };
            add(at(p, q));
            add(at(q, p));
        }
    return any;
}

}  // namespace

void NearBricks::find(const WorldSolids& world, const BodyInTerrain& body, Cell first) {
    boxes.clear();
    bounds = {};
    to_world_ = transposed(body.turn);
    reference_ = body.shape.bricks->reference(body.shape.reference);
    const float brick = float(kBrickEdge) * world.cell_size, bricks = 1 / brick;
    const Cell least{first.x * kBrickEdge, first.y * kBrickEdge, first.z * kBrickEdge};
    const Vec3 corner = to_vec(least - body.origin_cell) * world.cell_size;
    const float reach = body.reach;
    const Vec3 half = Vec3{float(kEdge), 1, float(kEdge)} * (0.5f * brick),
               middle = body.turn * (corner + half) + body.offset,
               around = extent_of(body.turn, half) + Vec3{reach, reach, reach};
    const auto any = [](const BrickTree::Brick&, Vec3) { return true; };
    if (!body.shape.bricks->visit_near(reference_, middle - around, middle + around, any)) return;
    Vec3 corners[8];  // of the body's box, about the tile's
    for (int i = 0; i < 8; i++) {
        const Vec3 &l = body.shape.lo, &h = body.shape.hi;
        const Vec3 p{i & 1 ? h.x : l.x, i & 2 ? h.y : l.y, i & 4 ? h.z : l.z};
        corners[i] = to_world_ * (p - body.offset) - corner;
    }
    auto low = [&](float at) { return at > 0 ? int(at) : 0; };
    auto high = [&](float at) { return at < float(kEdge) ? int(std::floor(at)) : kEdge - 1; };
    Vec3 lo, hi;
    if (!cut(corners, -reach, brick + reach, lo, hi)) return;
    for (int z = low((lo.z - reach) * bricks), z1 = high((hi.z + reach) * bricks); z <= z1; z++)
        for (int x = low((lo.x - reach) * bricks), x1 = high((hi.x + reach) * bricks); x <= x1; x++)
            if (const Brick* there = world.grid->find_brick(first + Cell{x, 0, z}))
                look_at(world, body, *there);
}

void NearBricks::look_at(const WorldSolids& world, const BodyInTerrain& body, const Brick& brick) {
    const BrickTree& tree = *body.shape.bricks;
    const float size = world.cell_size, cells = 1 / size, reach = body.reach;
    CellBox solid = solid_bounds(brick);
    if (solid.empty()) return;
    const Cell from = brick.origin() - body.origin_cell;
    const Vec3 lo = to_vec(solid.min + from) * size, hi = to_vec(solid.max + from + Cell{1, 1, 1}) * size;
    const Extent in_world{(lo + hi) * 0.5f, (hi - lo) * 0.5f};
    const Extent in_body{body.turn * in_world.middle + body.offset, extent_of(body.turn, in_world.half)};
    const Vec3 around = in_body.half + Vec3{reach, reach, reach};
    const Vec3 gaps = max(in_body.middle - around - body.shape.hi, body.shape.lo - in_body.middle - around);
    if (largest(gaps) > 0) return;
    bool any = false;
    Vec3 near_lo, near_hi;
    tree.visit_near(
        reference_, in_body.middle - around, in_body.middle + around,
        [&](const BrickTree::Brick& part, Vec3 origin) {
            const Vec3 a = part.part.lo + origin, b = part.part.hi + origin;
            Extent of_body{(a + b) * 0.5f, (b - a) * 0.5f}, of_world = in_world;
            SharedAxes::Separations unused;
            float gap;
            if (!body.axes.near(in_body.middle - of_body.middle, of_body.half, in_world.half, reach, unused,
                                gap))
                return false;
            if (!clip(of_body, in_body, reach)) return false;
            for (int pass = 0; pass < 2; pass++) {
                if (!clip(of_world,
                          {to_world_ * (of_body.middle - body.offset), extent_of(to_world_, of_body.half)},
                          reach))
                    return false;
                if (pass == 1) break;
                if (!clip(of_body,
                          {body.turn * of_world.middle + body.offset, extent_of(body.turn, of_world.half)},
                          reach))
                    return false;
            }
            const Vec3 l = of_world.middle - of_world.half, h = of_world.middle + of_world.half;
            near_lo = any ? min(near_lo, l) : l;
            near_hi = any ? max(near_hi, h) : h;
            any = true;
            return false;
        });
    if (!any) return;
    // Cells that these reach into: of those on the border one too many does no harm.
    auto low = [&](float at, int least) {
        const int i = int(std::floor(at * cells));
        return i > least ? i : least;
    };
    auto high = [&](float at, int most) {
        const int i = int(std::floor(at * cells));
        return i < most ? i : most;
    };
    const Cell s0 = solid.min + from, s1 = solid.max + from;
    const CellBox near{
        Cell{low(near_lo.x, s0.x), low(near_lo.y, s0.y), low(near_lo.z, s0.z)} + body.origin_cell,
        Cell{high(near_hi.x, s1.x), high(near_hi.y, s1.y), high(near_hi.z, s1.z)} + body.origin_cell};
    boxes.push_back(near);
    grow(bounds, near.min);
    grow(bounds, near.max);
}

}  // namespace talus
