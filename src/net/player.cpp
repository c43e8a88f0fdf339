// The page's own player: an upright box that walks among terrain, the ground and groups at the pose they are
// shown at. Solids near it are gathered once a move, as boxes; an upright one against a turned one by
// separating axes (S. Gottschalk, M. Lin, D. Manocha, OBBTree, 1996). Moves go one axis at a time in short
// steps, halved until they touch: a flat floor of many cells then has no seams to trip over, since it never
// pushes sideways. What a blast does to it is the level's rule (world/blast.cpp, BlastTargets), by what the
// page shows: the server does not know where players are.

#include "net/client_state.h"
#include "world/blast_rule.h"

#include <cmath>

namespace talus {

namespace {

using Player = ClientWorld::Player;

constexpr double kGravity = 9.81;
constexpr double kTouch = 1e-4;     // metres of overlap that count as touching
constexpr double kProbe = 0.02;     // metres under the feet where support is looked for
constexpr double kStride = 0.1;     // metres of one step of a move; thinner things could be walked through
constexpr double kMaxSpeed = 60;    // m/s
constexpr double kMaxDt = 0.1;      // seconds; a longer pause is not made up for
constexpr double kGroundGrip = 60;  // m/s^2 towards the wanted velocity, standing ...
constexpr double kAirGrip = 8;      // ... and in the air
constexpr double kEscape = 4;       // metres upwards tried when nothing else frees the player
constexpr DVec3 kHalf{ClientWorld::kPlayerWidth / 2, ClientWorld::kPlayerHeight / 2,
                      ClientWorld::kPlayerWidth / 2};

/// A box something is made of, in the world.
struct Solid {
    DVec3 center;
    DVec3 axis[3];
    DVec3 half;
    bool upright = true;     // axes are the world's
    std::uint8_t open = 63;  // faces -x +x -y +y -z +z with no full block behind: it may be left that way
    WireId group = kTerrainId;
};

double extent_along(const Solid& s, DVec3 n) {
    return s.half.x * std::fabs(dot(s.axis[0], n)) + s.half.y * std::fabs(dot(s.axis[1], n)) +
           s.half.z * std::fabs(dot(s.axis[2], n));
}
double player_extent(DVec3 n) {
    return kHalf.x * std::fabs(n.x) + kHalf.y * std::fabs(n.y) + kHalf.z * std::fabs(n.z);
}

/// How deep the player's box is in the solid; 0 or less: apart.
double depth_in(DVec3 feet, const Solid& s) {
    const DVec3 way = feet + DVec3{0, kHalf.y, 0} - s.center;
    double least = 1e30;
    auto check = [&](DVec3 n) {
        const double d = extent_along(s, n) + player_extent(n) - std::fabs(dot(way, n));
        least = d < least ? d : least;
        return d > 0;
    };
    static constexpr DVec3 kWorld[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (const DVec3& n : kWorld)
        if (!check(n)) return least;
    if (s.upright) return least;
    for (const DVec3& n : s.axis)
        if (!check(n)) return least;
    for (const DVec3& a : kWorld)
        for (const DVec3& b : s.axis) {
            const DVec3 n = cross(a, b);
            const double l = length(n);
            if (l > 1e-6 && !check(n / l)) return least;
        }
    return least;
}

/// The shortest way out of the solid, through an open face of it or upwards.
DVec3 way_out(DVec3 feet, const Solid& s) {
    const DVec3 way = feet + DVec3{0, kHalf.y, 0} - s.center;
    double least = 1e30;
    DVec3 out;
    auto consider = [&](DVec3 n) {
        const double d = extent_along(s, n) + player_extent(n) - dot(way, n);
        if (d < least) {
            least = d;
            out = n * d;
        }
    };
    for (int k = 0; k < 3; k++) {
        if (s.open & (1 << (2 * k))) consider(-s.axis[k]);
        if (s.open & (2 << (2 * k))) consider(s.axis[k]);
    }
    if (!s.upright || least == 1e30) consider({0, 1, 0});
    return out;
}

/// Solids of one grid whose cells meet a box given in the grid's frame, metres.
void gather_grid(const Grid& grid, float cell_size, const DBox& local, const Pose* pose, WireId group,
                 std::vector<Solid>& out) {
    const double size = cell_size;
    const CellBox all = grid.bounds();
    if (all.empty()) return;
    auto cell_at = [&](DVec3 p, Cell lo, Cell hi) {
        auto one = [&](double v, int a, int b) {
            const double f = std::floor(v / size);
            return f < a ? a : f > b ? b : int(f);
        };
        return Cell{one(p.x, lo.x, hi.x), one(p.y, lo.y, hi.y), one(p.z, lo.z, hi.z)};
    };
    for (int k = 0; k < 3; k++) {
        const double lo = size * double(k == 0 ? all.min.x : k == 1 ? all.min.y : all.min.z);
        const double hi = size * (double(k == 0 ? all.max.x : k == 1 ? all.max.y : all.max.z) + 1);
        if (local.max[k] < lo || local.min[k] > hi) return;
    }
    const Cell c0 = cell_at(local.min, all.min, all.max), c1 = cell_at(local.max, all.min, all.max);
    Solid solid;
    solid.group = group;
    solid.upright = pose == nullptr || pose->rotation == Quat{};
    const Mat3 turn = pose ? to_matrix(pose->rotation) : Mat3{};
    for (int k = 0; k < 3; k++) solid.axis[k] = to_double(turn.column(k));
    static constexpr Cell kFaces[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    for (int y = c0.y; y <= c1.y; y++)
        for (int z = c0.z; z <= c1.z; z++)
            for (int x = c0.x; x <= c1.x; x++) {
                const Cell c{x, y, z};
                const BlockId id = grid.get(c);
                if (id == kAir || !grid.table().flags(id).solid) continue;
                solid.open = 0;
                for (int k = 0; k < 6; k++)
                    solid.open |= std::uint8_t(grid.is_full(c + kFaces[k]) ? 0 : 1 << k);
                for (const Box& b : grid.table()[id].shape.boxes()) {
                    const DVec3 lo = (DVec3{double(x), double(y), double(z)} + to_double(b.min)) * size;
                    const DVec3 hi = (DVec3{double(x), double(y), double(z)} + to_double(b.max)) * size;
                    solid.half = (hi - lo) * 0.5;
                    const DVec3 middle = (lo + hi) * 0.5;
                    solid.center = pose ? to_world(*pose, to_float(middle)) : middle;
                    out.push_back(solid);
                }
            }
}

/// Everything solid that meets the box.
std::vector<Solid> gather(const ClientWorld::State& s, const DBox& region) {
    std::vector<Solid> out;
    if (s.ground && region.min.y < *s.ground) {
        const DVec3 middle = (region.min + region.max) * 0.5, half = (region.max - region.min) * 0.5;
        Solid floor;
        for (int k = 0; k < 3; k++) floor.axis[k][k] = 1;
        const double deep = half.y * 2 + 10;
        floor.center = {middle.x, *s.ground - deep, middle.z};
        floor.half = {half.x + 10, deep, half.z + 10};
        floor.open = 8;
        out.push_back(floor);
    }
    gather_grid(*s.terrain, s.cell_size, region, nullptr, kTerrainId, out);
    const DVec3 middle = (region.min + region.max) * 0.5;
    const double reach = length(region.max - region.min) * 0.5;
    for (const auto& g : s.groups) {
        const DVec3 way = to_world(g->drawn, g->middle) - middle;
        const double r = reach + double(g->radius);
        if (dot(way, way) > r * r) continue;
        DBox local;
        for (int k = 0; k < 8; k++) {
            const DVec3 corner{k & 1 ? region.max.x : region.min.x, k & 2 ? region.max.y : region.min.y,
                               k & 4 ? region.max.z : region.min.z};
            const DVec3 p = to_double(to_local(g->drawn, corner));
            local = k == 0 ? DBox{p, p} : DBox{min(local.min, p), max(local.max, p)};
        }
        gather_grid(*g->grid, s.cell_size, local, &g->drawn, g->id, out);
    }
    return out;
}

/// The feet among the solids of one move.
class Walker {
 public:
    Walker(DVec3 feet, std::vector<Solid> solids) : feet_(feet), solids_(std::move(solids)) {}

    DVec3 feet() const { return feet_; }
    void place(DVec3 feet) { feet_ = feet; }

    bool free_at(DVec3 feet) const {
        for (const Solid& s : solids_)
            if (depth_in(feet, s) > kTouch) return false;
        return true;
    }

    /// Moves along one axis until something is in the way. @return whether something was
    bool move(int axis, double distance) {
        const int steps = int(std::ceil(std::fabs(distance) / kStride));
        for (int i = 0; i < steps; i++) {
            DVec3 to = feet_;
            to[axis] += distance / steps;
            if (!blocked(feet_, to)) {
                feet_ = to;
                continue;
            }
            double near = 0, far = 1;  // shares of the step
            for (int k = 0; k < 12; k++) {
                const double mid = (near + far) / 2;
                DVec3 half = feet_;
                half[axis] += distance / steps * mid;
                (blocked(feet_, half) ? far : near) = mid;
            }
            feet_[axis] += distance / steps * near;
            return true;
        }
        return false;
    }

    /// x and z; over a step where there is one. @return whether something stopped it
    bool walk(double dx, double dz, double step_up) {
        const DVec3 start = feet_;
        const bool stop_x = move(0, dx), stop_z = move(2, dz);
        if (!(stop_x || stop_z) || step_up <= 0) return stop_x || stop_z;
        const DVec3 plain = feet_;
        feet_ = start;
        move(1, step_up);
        const double raised = feet_.y - start.y;
        const bool up_x = move(0, dx), up_z = move(2, dz);
        const bool landed = move(1, -raised);
        auto progress = [&](DVec3 p) {
            return (p.x - start.x) * (p.x - start.x) + (p.z - start.z) * (p.z - start.z);
        };
        if (landed && feet_.y > start.y && progress(feet_) > progress(plain) + 1e-9) return up_x || up_z;
        feet_ = plain;
        return true;
    }

    /// Out of whatever overlaps, by short ways through open faces, else upwards.
    void push_out() {
        const DVec3 start = feet_;
        for (int i = 0; i < 12; i++) {
            double deepest = kTouch;
            const Solid* worst = nullptr;
            for (const Solid& s : solids_) {
                const double d = depth_in(feet_, s);
                if (d > deepest) {
                    deepest = d;
                    worst = &s;
                }
            }
            if (!worst) return;
            feet_ += way_out(feet_, *worst);
        }
        if (free_at(feet_)) return;
        for (double up = 0; up < kEscape; up += kStride)
            if (free_at(start + DVec3{0, up, 0})) {
                feet_ = start + DVec3{0, up, 0};
                return;
            }
        feet_ = start;
    }

    /// What bears the player: under the middle of its feet where something is, else anything.
    const Solid* support() const {
        const Solid* any = nullptr;
        const DVec3 lower = feet_ - DVec3{0, kProbe, 0};
        for (const Solid& s : solids_) {
            if (!(depth_in(lower, s) > 0)) continue;
            if (feet_.y + kHalf.y < s.center.y) continue;  // beside or above the player, not below
            const DVec3 way = lower - s.center;
            bool below_middle = true;
            for (int k = 0; k < 3; k++) below_middle &= std::fabs(dot(way, s.axis[k])) <= s.half[k];
            if (below_middle) return &s;
            if (!any) any = &s;
        }
        return any;
    }

 private:
    bool blocked(DVec3 from, DVec3 to) const {
        for (const Solid& s : solids_) {
            const double d = depth_in(to, s);
            // What already overlaps may be left, not entered deeper.
            if (d > kTouch && d > depth_in(from, s)) return true;
        }
        return false;
    }

    DVec3 feet_;
    std::vector<Solid> solids_;
};

/// v moved towards wish by at most `by`, in x and z.
void steer(DVec3& v, DVec3 wish, double by) {
    const double dx = wish.x - v.x, dz = wish.z - v.z;
    const double l = std::sqrt(dx * dx + dz * dz);
    if (l <= by) {
        v.x = wish.x, v.z = wish.z;
        return;
    }
    v.x += dx / l * by;
    v.z += dz / l * by;
}

DVec3 bounded(DVec3 v) {
    const double l = length(v);
    return l > kMaxSpeed ? v * (kMaxSpeed / l) : v;
}

/// Does anything solid lie between the two places?
bool hidden(const ClientWorld::State& s, DVec3 from, DVec3 to) {
    const double reach = length(to - from);
    if (!(reach > 0)) return false;
    if (s.ground && to.y < *s.ground) return true;
    const Vec3 d = to_float((to - from) / reach);
    if (cast_ray(*s.terrain, s.cell_size, from, d, float(reach), true)) return true;
    for (const auto& g : s.groups) {
        const DVec3 way = to_world(g->drawn, g->middle) - from;
        const double along = dot(way, to_double(d)), r = double(g->radius) + 1e-3;
        if (along < -r || along > reach + r || dot(way, way) - along * along > r * r) continue;
        if (cast_ray(*g->grid, s.cell_size, to_double(to_local(g->drawn, from)),
                     unrotate(g->drawn.rotation, d), float(reach), true))
            return true;
    }
    return false;
}

/// The velocity that blasts give a player at `feet`.
DVec3 blast_push(const ClientWorld::State& s, DVec3 feet) {
    const DVec3 half{kHalf.x, 0, kHalf.z};
    const DBox box{feet - half, feet + half + DVec3{0, 2 * kHalf.y, 0}};
    DVec3 out;
    for (const FrameEffect& blast : s.blasts) {
        const DVec3 to = (box.min + box.max) * 0.5 - blast.point;
        const double distance = length(to), reach = blast_reach(double(blast.value));
        if (!(distance < reach)) continue;
        int seen = 0;
        for (int i = 0; i < kBlastPoints; i++) seen += !hidden(s, blast.point, blast_point(box, i));
        const double speed = kBlastPlayerSpeed * (1 - distance / reach) * seen / kBlastPoints;
        out += (distance > 0 ? to / distance : DVec3{0, 1, 0}) * speed;
    }
    return out;
}

}  // namespace

Player ClientWorld::move_player(const Player& given, DVec3 wish, bool jump, double dt, double now) {
    advance(now);
    State& s = *state_;
    if (!s.terrain || !is_finite(given.position) || !is_finite(given.velocity) || !is_finite(wish) ||
        !(dt >= 0))
        return given;
    dt = dt < kMaxDt ? dt : kMaxDt;
    wish = bounded(wish);
    Player player = given;
    DVec3 feet = player.position + s.origin;
    DVec3 velocity = bounded(player.velocity);

    // Carried by what it stood on: exactly as far as that point moved.
    DVec3 carried{0, 0, 0};
    const auto ridden = s.by_id.find(s.stood_on);
    const DVec3 pushed = player.flying ? DVec3{} : blast_push(s, feet);
    s.blasts.clear();
    velocity = bounded(velocity + pushed);
    const bool was_on_ground = player.on_ground && !player.flying && !(pushed.y > 0);
    if (player.on_ground && !player.flying && s.stood_on != kTerrainId && ridden != s.by_id.end()) {
        const DVec3 there = to_world(ridden->second->drawn, s.stood_at);
        carried = there - s.stood_world;
        if (length(carried) > 10) carried = {};  // a new world under an old number
        feet += carried;
    }
    if (dt > 0) s.carried_velocity = carried / dt;

    const double cell = s.cell_size;
    const double step_up = player.flying ? 0 : cell > 1 ? 0.55 * cell : 0.55;
    const double jump_height = cell > 1 ? 1.25 * cell : 1.25;
    const double reach = (length(velocity) + length(wish) + kGravity * dt) * dt + 0.2;
    const DVec3 around{reach + kHalf.x, reach + step_up, reach + kHalf.z};
    Walker walker(feet, gather(s, {feet - around, feet + around + DVec3{0, 2 * kHalf.y + kEscape, 0}}));

    // Out of what moved into it; then its own movement.
    walker.push_out();
    bool supported = was_on_ground && walker.support() != nullptr;
    if (player.flying) {
        velocity = wish;
        for (const int axis : {1, 0, 2}) walker.move(axis, velocity[axis] * dt);
        player.on_ground = false;
    } else {
        bool rises = false;
        if (supported && jump) {
            velocity.y = std::sqrt(2 * kGravity * jump_height);
            velocity += s.carried_velocity;
            supported = false;
            rises = true;
        } else if (was_on_ground && !supported) {
            velocity += s.carried_velocity;  // it keeps the speed of what it left
        }
        if (supported) {
            velocity.y = 0;
            steer(velocity, wish, kGroundGrip * dt);
        } else if (wish.x != 0 || wish.z != 0) {
            steer(velocity, wish, kAirGrip * dt);
        }
        const DVec3 before = walker.feet();
        walker.walk(velocity.x * dt, velocity.z * dt, supported ? step_up : 0);
        if (dt > 0) {
            // A wall takes the speed into it away, a step does not.
            const DVec3 moved = (walker.feet() - before) / dt;
            if (std::fabs(moved.x) < std::fabs(velocity.x) - 1e-6) velocity.x = moved.x;
            if (std::fabs(moved.z) < std::fabs(velocity.z) - 1e-6) velocity.z = moved.z;
        }
        bool landed = supported && walker.support() != nullptr;
        if (supported && !landed) {
            // Down a step or a slope without leaving the ground.
            const DVec3 edge = walker.feet();
            landed = walker.move(1, -step_up);
            if (!landed) {
                walker.place(edge);
                velocity += s.carried_velocity;
            }
        }
        if (!landed) {
            const double fall = velocity.y * dt - kGravity * dt * dt / 2;
            velocity.y -= kGravity * dt;
            if (walker.move(1, fall)) {
                landed = fall <= 0;
                velocity.y = 0;
            } else if (rises) {
                landed = false;
            }
        }
        player.on_ground = landed;
    }

    s.stood_on = kTerrainId;
    if (player.on_ground) {
        velocity.y = 0;
        const Solid* below = walker.support();
        const auto it = below ? s.by_id.find(below->group) : s.by_id.end();
        if (it != s.by_id.end()) {
            s.stood_on = it->first;
            s.stood_at = to_local(it->second->drawn, walker.feet());
            s.stood_world = to_world(it->second->drawn, s.stood_at);
        }
    }
    player.position = walker.feet() - s.origin;
    player.velocity = bounded(velocity);
    return player;
}

}  // namespace talus
