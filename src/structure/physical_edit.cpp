// What an edit changes is solved again around it.
#include "structure/physical_engine.h"

#include <algorithm>

namespace talus::physical {

namespace {

constexpr int kFirstRings = 2;          // of bricks around the edits
constexpr std::size_t kMostEdits = 64;  // at once: more are a new structure
constexpr int kMostIterations = 40;     // in a ball
constexpr double kWholeFrom = 0.25;     // a ball of this share of the structure: the whole is as cheap
constexpr double kNearLimit = 0.95;     // a face this near to breaking is judged by a balance of the whole

constexpr Cell kStep[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

}  // namespace

bool Engine::same_question(const StructureSettings& a, const StructureSettings& b) {
    return a.up == b.up && a.cell_size == b.cell_size && a.gravity == b.gravity &&
           a.limit_factor == b.limit_factor && a.no_tension == b.no_tension && a.tolerance == b.tolerance;
}

// Pre: the last solve had the same settings and nothing broke in it. @return false when it has to be solved
// in the ordinary way, from the motion there is
bool Engine::solve_again(StructureReport& report) {
    if (any_dry_ || !pins.empty() || renumber_ || edits_.size() > kMostEdits) return false;
    local_ = 0;
    iterations_ = 0;
    if (!edits_.empty()) {
        bool support_gone = false;
        for (const Cell c : edits_) {  // a block that moves needs a node
            const std::uint32_t brick = solver_.lattice.brick_at(c);
            const Brick& b = solver_.lattice.bricks[brick];
            const int bit = bit_of(c);
            const bool moves = b.present >> bit & 1 && !solver_.lattice.support[b.slot(bit)];
            if (moves && !(b.node >> bit & 1)) return false;
            const bool holds = b.present >> bit & 1 && !moves;
            support_gone = support_gone || (b.fixed >> bit & 1 && !holds);
        }
        change_blocks();
        find_ball();
        if (anything_cut(widen_ball(kFirstRings), support_gone)) return false;
        weigh();
        if (!solve_ball() && !solve_whole()) return false;
    }
    summarise(report);
    if (report.supports == 0 || report.max_utilisation > kFull) return false;
    edits_.clear();
    report.verdict = Verdict::stands;
    report.rounds = 1;
    report.iterations = report.all_iterations = iterations_;
    report.local_blocks = local_;
    return true;
}

// The ball begins with the bricks of the edits and of what was or is bonded to them.
void Engine::find_ball() {
    const std::size_t count = solver_.lattice.bricks.size();
    if (stamp_.size() != count) {
        stamp_.assign(count, 0);
        place_.assign(count, 0);
        ball_.reserve(count);
        sorted_.reserve(count);
        for (std::vector<Chunk>* c :
             {&region_.nodes, &region_.groups, &region_.border, &region_.border_groups})
            c->reserve(count);
        stamp_now_ = 0;
    }
    stamp_now_++;
    ball_.clear();
    ring_ = 0;
    const auto add = [&](Cell c) {
        const std::uint32_t brick = solver_.lattice.brick_at(c);
        if (stamp_[brick] == stamp_now_ || brick + 1 == stamp_.size()) return;
        stamp_[brick] = stamp_now_;
        place_[brick] = std::uint32_t(ball_.size());
        ball_.push_back(brick);
    };
    for (const Cell c : edits_) {
        add(c);
        for (const Cell step : kStep) add(c + step);
    }
}

// Goes on by so many rings of bricks bonded to those there are, and one for the border.
// @return how many bricks lie inside the border
std::size_t Engine::widen_ball(int rings) {
    const Lattice& lattice = solver_.lattice;
    for (int r = 0; r < rings; r++) {
        const std::size_t end = ball_.size();
        for (; ring_ < end; ring_++) {
            const std::uint32_t i = ball_[ring_];
            const Brick& b = lattice.bricks[i];
            for (int k = 0; k < 6; k++) {
                const std::uint32_t to = b.nb[k];
                if (stamp_[to] == stamp_now_) continue;
                const int axis = k / 2;
                const Word face = k & 1 ? lattice.bonds(lattice.bricks[to], axis) & kLast[axis]
                                        : lattice.bonds(b, axis) & kLast[axis];
                if (!face) continue;
                stamp_[to] = stamp_now_;
                place_[to] = std::uint32_t(ball_.size());
                ball_.push_back(to);
            }
        }
    }
    return ring_;
}

// What existed and what does now, bonds, groups and forces. The lattice still has what was there.
void Engine::change_blocks() {
    Lattice& lattice = solver_.lattice;
    Multigrid& levels = solver_.multigrid;
    const auto faces = [&](std::uint32_t brick, int bit, double sign) {
        lattice.for_each_side(brick, bit, [&](const Link& link, std::uint32_t, int) {
            if (!(link.low & link.high & kFixedEnd)) levels.change(link, sign);
        });
    };
    for (const Cell c : edits_) {
        const std::uint32_t brick = lattice.brick_at(c);
        Brick& b = lattice.bricks[brick];
        const int bit = bit_of(c);
        const Word at = Word(1) << bit;
        const bool fixed = b.present & at && lattice.support[b.slot(bit)];
        const bool free = b.present & at && !fixed;
        if (free == ((b.free & at) != 0) && fixed == ((b.fixed & at) != 0)) continue;
        if (b.exists() & at) faces(brick, bit, -1);
        b.free &= ~at;
        b.fixed &= ~at;
        if (free) {
            b.free |= at;
            levels.adopt(brick, bit);
        }
        if (fixed) b.fixed |= at;
        if (free || fixed) faces(brick, bit, 1);
    }
    const auto renew = [&](std::uint32_t brick, int bit) {
        if (!(lattice.bricks[brick].node >> bit & 1)) return;
        lattice.relink(brick, bit);
        set_force(brick, bit);
    };
    for (const Cell c : edits_) {
        const std::uint32_t brick = lattice.brick_at(c);
        const int bit = bit_of(c);
        for (const Cell step : kStep) renew(lattice.brick_at(c + step), bit_of(c + step));
        renew(brick, bit);
        levels.refresh(brick);
        const Brick& b = lattice.bricks[brick];
        if (!(b.node >> bit & 1)) continue;
        // What is gone does not move; what came moves as its neighbours do.
        SixD& x = solver_.x[lattice.node_of(b, bit)];
        x = {};
        int count = 0;
        if (b.free >> bit & 1)
            lattice.for_each_side(brick, bit, [&](const Link& link, std::uint32_t other, int at) {
                count++;
                const Brick& o = lattice.bricks[other];
                if (!(o.free >> at & 1)) return;
                const SixD& y = solver_.x[lattice.node_of(o, at)];
                DVec3 arm, turn{y.v[4], y.v[5], y.v[6]};
                arm[link.axis] = link.brick == brick && link.bit == bit ? -1 : 1;
                const DVec3 move = cross(turn, arm);
                for (int a = 0; a < 3; a++) x.v[a] += y.v[a] + move[a];
                for (int a = 4; a < 7; a++) x.v[a] += y.v[a];
            });
        for (double& v : x.v) v = count ? v / count : 0;
    }
    solver_.add_classes();
}

// Whether a block that held something was taken out, or one put that nothing holds. Looks no further than the
// ball where that settles it.
bool Engine::anything_cut(std::size_t inside, bool support_gone) {
    const Lattice& lattice = solver_.lattice;
    // All that the edits touch is still in one piece, with a block in it that was there before: then whatever
    // was joined through a block that is gone still is.
    for (std::size_t k = 0; k < inside; k++) reached_[ball_[k]] = 0;
    stack_.clear();
    bool begun = false, all = !support_gone, old = false;
    const auto touch = [&](std::uint32_t brick, int bit) {
        if (!all || !(lattice.bricks[brick].exists() >> bit & 1)) return;
        if (reached_[brick] >> bit & 1) return;
        all = !begun;
        if (begun) return;
        begun = true;
        reach_in(brick, Word(1) << bit);
        flood(inside);
    };
    for (const Cell c : edits_) {
        const std::uint32_t brick = lattice.brick_at(c);
        const int bit = bit_of(c);
        touch(brick, bit);
        for (int k = 0; k < 6; k++) {
            const Cell to = c + kStep[k];
            const std::uint32_t other = lattice.brick_at(to);
            touch(other, bit_of(to));
            old = old || (lattice.bricks[other].exists() >> bit_of(to) & 1 &&
                          std::find(edits_.begin(), edits_.end(), to) == edits_.end());
        }
    }
    if (all && old) return false;
    return drop_unjoined() > 0;
}

// The ball's inside as runs of nodes and groups, and its border.
void Engine::make_region(std::size_t inside) {
    const Lattice& lattice = solver_.lattice;
    const auto add = [](std::vector<Chunk>& to, const Chunk& c) {
        if (c.red == c.red_end && c.black == c.black_end) return;
        if (!to.empty() && to.back().red_end == c.red && to.back().black_end == c.black) {
            to.back().red_end = c.red_end;
            to.back().black_end = c.black_end;
        } else {
            to.push_back(c);
        }
    };
    for (const bool border : {false, true}) {
        std::vector<Chunk>& nodes = border ? region_.border : region_.nodes;
        std::vector<Chunk>& groups = border ? region_.border_groups : region_.groups;
        nodes.clear();
        groups.clear();
        const auto begin = ball_.begin() + std::ptrdiff_t(inside);
        sorted_.assign(border ? begin : ball_.begin(), border ? ball_.end() : begin);
        std::sort(sorted_.begin(), sorted_.end());
        for (const std::uint32_t i : sorted_) {
            const Brick& b = lattice.bricks[i];
            add(nodes, {b.red, b.red + std::uint32_t(std::popcount(b.node & kRed)), b.black,
                        b.black + std::uint32_t(std::popcount(b.node & ~kRed))});
            add(groups, solver_.multigrid.groups_of(i));
        }
    }
}

// @return false when the ball got too big, or a face in it is near to breaking
bool Engine::solve_ball() {
    const Lattice& lattice = solver_.lattice;
    const double slack = settings_.local_slack, tolerance = settings_.tolerance;
    std::size_t inside = ring_;
    for (int rings = kFirstRings;; rings *= 2) {
        make_region(inside);
        std::size_t blocks = 0;
        for (const Chunk& c : region_.nodes) blocks += c.red_end - c.red + c.black_end - c.black;
        if (double(blocks) > kWholeFrom * lattice.nodes) return false;
        const Balanced b = solver_.solve(tolerance, kMostIterations, region_);
        iterations_ += b.iterations;
        if (!b.ok) return false;
        solver_.update_residual(region_.border);
        const std::size_t border = inside;
        double worst = 0, share = 0;
        std::size_t dry = 0;
        for (std::size_t k = 0; k < ball_.size(); k++) {
            judge(ball_[k], dry);
            const State& s = states_[ball_[k]];
            if (k >= border) worst = s.imbalance <= worst ? worst : s.imbalance;
            share = s.worst.share <= share ? share : s.worst.share;
        }
        if (share > kNearLimit) return false;
        if (worst <= slack * tolerance) {
            local_ = std::uint32_t(blocks);
            break;
        }
        inside = widen_ball(rings);
    }
    StructureReport report;
    summarise(report);
    const double off = report.base_reaction - report.weight;
    return (off < 0 ? -off : off) <= slack * base_tolerance(tolerance) * load_ * unit_;
}

bool Engine::solve_whole() {
    if (solver_.multigrid.stale()) renumber(true);
    const Balanced b = solver_.solve(settings_.tolerance, base_tolerance(settings_.tolerance),
                                     settings_.max_iterations, load_);
    iterations_ += b.iterations;
    judge_all();
    local_ = 0;
    return b.ok;
}

bool Engine::refine(int iterations) {
    if (!warm_ || !whole_ || any_dry_ || renumber_ || !edits_.empty()) return warm_;
    if (solver_.multigrid.stale()) renumber(true);
    const Balanced b =
        solver_.solve(settings_.tolerance, base_tolerance(settings_.tolerance), iterations, load_);
    judge_all();
    return b.ok;
}

}  // namespace talus::physical
