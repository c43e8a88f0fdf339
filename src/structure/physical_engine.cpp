#include "structure/physical_engine.h"

#include <algorithm>
#include <cstring>

namespace talus::physical {

namespace {

// While far from rest a rough balance tells which faces break; the last word is always that of a good one.
constexpr double kRough = 10;  // times the tolerance
constexpr int kRoughIterations = 6;
constexpr double kRenumber = 5;    // what a new lattice costs, in iterations
constexpr double kSurely = 1.2;    // a share beyond which a rough balance is enough
constexpr double kSoftest = 1e-4;  // of the stiffest: softer counts as this

}  // namespace

void Engine::set_blocks(std::span<const StructureBlock> blocks) {
    input_.assign(blocks.begin(), blocks.end());
    pending_ = true;
    warm_ = false;
    edits_.clear();
}

// The blocks as a list again, for a lattice made anew.
void Engine::give_back() {
    const Lattice& lattice = solver_.lattice;
    for (const Brick& b : lattice.bricks)
        for (Word w = b.present; w; w &= w - 1) {
            const int bit = std::countr_zero(w);
            const std::uint32_t s = b.slot(bit);
            input_.push_back({lattice.frame.outer(cell_of(b.coord, bit)), lattice.mass[s], 1,
                              lattice.support[s] != 0, lattice.kind[s]});
        }
    pending_ = true;
    warm_ = false;
}

// The lattice has the blocks; the list is not kept.
void Engine::take_over(Axis up) {
    if (!pending_ && up != up_) give_back();
    up_ = up;
    if (!pending_) return;
    solver_.lattice.set_blocks(input_, up, loads, jobs);
    std::vector<StructureBlock>().swap(input_);
    pending_ = false;
    warm_ = false;
}

bool Engine::remove(Cell cell) {
    if (pending_) {
        const auto at = std::find_if(input_.begin(), input_.end(),
                                     [&](const StructureBlock& b) { return b.cell == cell; });
        if (at == input_.end()) return false;
        *at = input_.back();
        input_.pop_back();
        return true;
    }
    Lattice& lattice = solver_.lattice;
    const Cell inner = lattice.frame.inner(cell);
    const std::uint32_t brick = lattice.brick_at(inner);
    const Word bit = Word(1) << bit_of(inner);
    if (!(lattice.bricks[brick].present & bit)) return false;
    lattice.bricks[brick].present &= ~bit;
    edits_.push_back(inner);
    return true;
}

void Engine::place(const StructureBlock& block) {
    if (!pending_) {
        Lattice& lattice = solver_.lattice;
        const Cell inner = lattice.frame.inner(block.cell);
        const int bit = bit_of(inner);
        const auto has_room = [&] { return lattice.bricks[lattice.brick_at(inner)].slots >> bit & 1; };
        const bool old_room = has_room();
        if (old_room || lattice.make_room(inner)) {
            Brick& b = lattice.bricks[lattice.brick_at(inner)];
            const std::uint32_t s = b.slot(bit);
            renumber_ = renumber_ || !old_room || lattice.kind[s] != block.material;
            lattice.mass[s] = block.mass;
            lattice.kind[s] = block.material;
            lattice.support[s] = block.support;
            b.present |= Word(1) << bit;
            edits_.push_back(inner);
            return;
        }
        give_back();  // no place for it
    }
    for (StructureBlock& b : input_)
        if (b.cell == block.cell) {
            b = block;
            return;
        }
    input_.push_back(block);
}

void Engine::apply_factor(StructureLimits& limits) const {
    limits.tension *= settings_.limit_factor;
    limits.compression *= settings_.limit_factor;
    limits.cohesion *= settings_.limit_factor;
}

// Inner units: force in weights of a mean block, so that float fields are near 1.
void Engine::units() {
    const Lattice& lattice = solver_.lattice;
    double sum = 0;
    std::size_t count = 0;
    for (const Brick& b : lattice.bricks)
        for (Word w = b.present; w; w &= w - 1) {
            sum += lattice.mass[b.slot(std::countr_zero(w))];
            count++;
        }
    if (sum == 0)
        for (const StructureLoad& load : loads) {
            sum += length(load.force) + length(load.moment) / settings_.cell_size;
            count = loads.size();
        }
    unit_ = sum > 0 ? sum / double(count) : 1;
    stress_ = unit_ * settings_.gravity / (settings_.cell_size * settings_.cell_size);
    own_limits_.clear();
    for (const BondLimits& limits : bond_limits) {
        const Cell a = lattice.frame.inner(limits.bond.first), b = lattice.frame.inner(limits.bond.second);
        const Cell d = b - a;
        const bool forward = d.x + d.y + d.z > 0;
        const Cell high = forward ? b : a;
        if (d.x * d.x + d.y * d.y + d.z * d.z != 1) continue;
        const Brick& brick = lattice.bricks[lattice.brick_at(high)];
        if (!(brick.present >> bit_of(high) & 1)) continue;
        const int axis = d.x ? 0 : d.y ? 1 : 2;
        own_limits_.push_back(
            {std::uint64_t(brick.slot(bit_of(high))) * 4 + std::uint64_t(axis), limits.limits});
    }
    std::sort(own_limits_.begin(), own_limits_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    any_dry_ = settings_.no_tension;
    for (const auto& limits : own_limits_) any_dry_ = any_dry_ || limits.second.dry();
    for (const StructureMaterial& m : materials) any_dry_ = any_dry_ || m.limits.dry();
    plain_ = own_limits_.empty() && materials.size() == 1;
    if (plain_) {
        plain_limits_ = materials[0].limits;
        apply_factor(plain_limits_);
    }
}

// Adds to reached_ what is joined to it in the bricks on the stack and beyond: everywhere, or within the
// first so many bricks of the ball.
void Engine::flood(std::size_t inside) {
    const Lattice& lattice = solver_.lattice;
    const std::vector<Brick>& bricks = lattice.bricks;
    while (!stack_.empty()) {
        const std::uint32_t i = stack_.back();
        stack_.pop_back();
        const Brick& b = bricks[i];
        Word all = reached_[i], before = 0;
        Word linked[3], behind[3];
        for (int a = 0; a < 3; a++) {
            linked[a] = lattice.bonds(b, a);
            behind[a] = lattice.bonds(bricks[b.nb[2 * a + 1]], a) & kLast[a];
        }
        while (all != before) {
            before = all;
            for (int a = 0; a < 3; a++) {
                const Word in = linked[a] & ~kLast[a];
                all |= (all & in) << kShift[a];
                all |= (all >> kShift[a]) & in;
            }
        }
        reached_[i] = all;
        const auto reach = [&](std::uint32_t to, Word bits) {
            if (inside == 0 || (stamp_[to] == stamp_now_ && place_[to] < inside)) reach_in(to, bits);
        };
        for (int a = 0; a < 3; a++) {
            if (const Word out = all & linked[a] & kLast[a]) reach(b.nb[2 * a], out >> (3 * kShift[a]));
            if (const Word out = ((all & kFirst[a]) << (3 * kShift[a])) & behind[a])
                reach(b.nb[2 * a + 1], out);
        }
    }
}

void Engine::reach_in(std::uint32_t brick, Word bits) {
    if (!(bits & ~reached_[brick])) return;
    reached_[brick] |= bits;
    stack_.push_back(brick);
}

// Takes out what no path of bonds joins to a support or a pin. @return how many blocks
std::size_t Engine::drop_unjoined() {
    Lattice& lattice = solver_.lattice;
    std::vector<Brick>& bricks = lattice.bricks;
    reached_.assign(bricks.size(), 0);
    stack_.clear();
    for (std::uint32_t i = 0; i + 1 < bricks.size(); i++)
        reach_in(i, bricks[i].fixed | (bricks[i].ground & bricks[i].free));
    for (const StructurePin& pin : pins) {
        std::uint32_t brick;
        int bit;
        if (lattice.find(lattice.frame.inner(pin.cell), brick, bit)) reach_in(brick, Word(1) << bit);
    }
    flood(0);
    std::size_t dropped = 0;
    for (std::uint32_t i = 0; i + 1 < bricks.size(); i++) {
        Brick& b = bricks[i];
        const Word gone = b.exists() & ~reached_[i];
        dropped += std::size_t(std::popcount(gone));
        fell_[i] |= gone;
        b.free &= ~gone;
        b.fixed &= ~gone;
        b.ground &= ~gone;
    }
    return dropped;
}

// Numbers what moves, makes the levels and the forces. Kept motion goes over to the new numbers.
void Engine::renumber(bool keep_motion) {
    Lattice& lattice = solver_.lattice;
    double stiffest = 0;
    for (const StructureMaterial& m : materials) stiffest = m.stiffness > stiffest ? m.stiffness : stiffest;
    std::vector<double> stiffness;
    for (const StructureMaterial& m : materials) {
        const double s = stiffest > 0 ? m.stiffness / stiffest : 1;
        stiffness.push_back(s > kSoftest ? s : kSoftest);
    }
    std::vector<SixD> by_slot;
    if (keep_motion) {
        by_slot.assign(lattice.mass.size(), {});
        for (std::uint32_t n = 0; n < lattice.nodes; n++) by_slot[lattice.slot_of[n]] = solver_.x[n];
    }
    lattice.index(stiffness, pins, jobs);
    solver_.prepare(jobs);
    if (keep_motion)
        for (std::uint32_t n = 0; n < lattice.nodes; n++) solver_.x[n] = by_slot[lattice.slot_of[n]];
    set_forces();
}

double Engine::mass_at(std::uint32_t slot) const {
    return solver_.lattice.mass[slot] + (landed_.empty() ? 0 : landed_[slot]);
}

void Engine::add_load(const StructureLoad& load, Six& f) const {
    const Lattice& lattice = solver_.lattice;
    const DVec3 force = lattice.frame.inner(load.force);
    const DVec3 moment = lattice.frame.inner(load.moment) * lattice.frame.handedness();
    for (int a = 0; a < 3; a++) {
        f.v[a] += float(force[a] / unit_);
        f.v[4 + a] += float(moment[a] / (unit_ * settings_.cell_size));
    }
}

void Engine::set_forces() {
    const Lattice& lattice = solver_.lattice;
    // The lesser of weight and strength: for strength, the tension its weakest face bears.
    const bool alike = plain_ && !any_dry_;
    const float bears_all = float(plain_limits_.tension / stress_);
    const auto bonded = [&](std::uint32_t n) {
        for (const double s : lattice.classes[lattice.node_class[n]].all_scale)
            if (s > 0) return true;
        return false;
    };
    const std::size_t count = lattice.bricks.size();
    in_parallel(jobs, (count + kBricksAJob - 1) / kBricksAJob, [&](std::size_t job) {
        for (std::size_t i = job * kBricksAJob; i < count && i < (job + 1) * kBricksAJob; i++) {
            const Brick& b = lattice.bricks[i];
            for (Word w = b.node; w; w &= w - 1) {
                const int bit = std::countr_zero(w);
                const std::uint32_t n = lattice.node_of(b, bit);
                const double weight = b.free >> bit & 1 ? mass_at(lattice.slot_of[n]) / unit_ : 0;
                solver_.f[n] = {};
                solver_.f[n].v[1] = float(-weight);
                float& reference = solver_.reference[n] = float(weight);
                if (alike && bears_all < reference && bonded(n)) reference = bears_all;
            }
        }
    });
    for (const StructureLoad& load : loads) {
        std::uint32_t brick;
        int bit;
        if (!lattice.find(lattice.frame.inner(load.cell), brick, bit)) continue;
        if (!(lattice.bricks[brick].free >> bit & 1)) continue;
        add_load(load, solver_.f[lattice.node_of(lattice.bricks[brick], bit)]);
    }
    if (!alike && !settings_.no_tension)
        lattice.for_each_link([&](const Link& link) {
            const StructureLimits limits = limits_of(link);
            if (limits.dry()) return;
            const float bears = float(limits.tension / stress_);
            for (const std::uint32_t end : {link.low, link.high})
                if (!(end & kFixedEnd) && bears < solver_.reference[end]) solver_.reference[end] = bears;
        });
    for (float& r : solver_.reference) r = r > kLeastReference ? r : kLeastReference;
    weigh();
}

// The same for one place, after an edit.
void Engine::set_force(std::uint32_t brick, int bit) {
    const Lattice& lattice = solver_.lattice;
    const Brick& b = lattice.bricks[brick];
    const std::uint32_t n = lattice.node_of(b, bit);
    Six& f = solver_.f[n];
    f = {};
    float& reference = solver_.reference[n];
    reference = 1;
    if (!(b.free >> bit & 1)) return;
    const double weight = mass_at(lattice.slot_of[n]) / unit_;
    f.v[1] = float(-weight);
    reference = float(weight);
    for (const StructureLoad& load : loads)
        if (lattice.frame.inner(load.cell) == lattice.cell[n]) add_load(load, f);
    lattice.for_each_side(brick, bit, [&](const Link& link, std::uint32_t, int) {
        const float bears = float(limits_of(link).tension / stress_);
        if (bears < reference) reference = bears;
    });
    if (!(reference > kLeastReference)) reference = kLeastReference;
}

// The vertical load on all nodes, and all that is carried.
void Engine::weigh() {
    const Lattice& lattice = solver_.lattice;
    load_ = carried_ = 0;
    for (const Brick& b : lattice.bricks) {
        double moves = 0, rests = 0;
        for (Word w = b.free; w; w &= w - 1) moves += mass_at(b.slot(std::countr_zero(w)));
        for (Word w = b.fixed; w; w &= w - 1) rests += mass_at(b.slot(std::countr_zero(w)));
        load_ += moves / unit_;
        carried_ += moves + rests;
    }
    for (const StructureLoad& load : loads) {
        std::uint32_t brick;
        int bit;
        if (!lattice.find(lattice.frame.inner(load.cell), brick, bit)) continue;
        const double down = lattice.frame.inner(load.force).y;
        carried_ -= down;
        if (lattice.bricks[brick].free >> bit & 1) load_ -= down / unit_;
    }
    if (load_ < 0) load_ = -load_;
}

void Engine::count_work(std::uint32_t iterations) {
    iterations_ += iterations;
    work_ += double(solver_.lattice.nodes) * iterations;
}

Engine::Found Engine::find_balance() {
    const double tolerance = settings_.tolerance;
    const Balanced b = solver_.solve(tolerance, base_tolerance(tolerance), settings_.max_iterations, load_);
    balances_++;
    count_work(b.iterations);
    imbalance_ = b.imbalance;
    thrusts_.clear();
    if (!b.ok) return Found::undecided;
    return any_dry_ ? find_thrusts() : Found::balanced;
}

// @return whether faces broke
bool Engine::break_roughly() {
    const double tolerance = settings_.tolerance * kRough;
    const int most =
        kRoughIterations < settings_.max_iterations ? kRoughIterations : settings_.max_iterations;
    const Balanced b = solver_.solve(tolerance, 1, most, load_);
    count_work(b.iterations);
    judge_all();
    const double worst = worst_bond().share;
    if (!(worst > kSurely)) return false;
    balances_++;
    break_batch(worst);
    return true;
}

// f(part) for each fallen part: its places in the order in which unbroken bonds reach them.
template <class F>
void Engine::each_fallen_part(F&& f) const {
    const Lattice& lattice = solver_.lattice;
    std::vector<Word> left = fell_;
    std::vector<Place> part;
    for (std::uint32_t i = 0; i + 1 < lattice.bricks.size(); i++)
        while (left[i]) {
            part.assign(1, {i, std::countr_zero(left[i])});
            left[i] &= left[i] - 1;
            for (std::size_t k = 0; k < part.size(); k++)
                for (int d = 0; d < 6; d++) {
                    const Place from = part[k], to = lattice.beside(from, d);
                    const Place low = d & 1 ? to : from;
                    const bool whole = lattice.bricks[low.brick].bond[d / 2] >> low.bit & 1;
                    if (!(left[to.brick] >> to.bit & 1) || !whole) continue;
                    left[to.brick] &= ~(Word(1) << to.bit);
                    part.push_back(to);
                }
            f(part);
        }
}

// Fallen parts load what stands right under any of their blocks, evenly. @return whether a load changed
bool Engine::land_fallen() {
    const Lattice& lattice = solver_.lattice;
    std::vector<double> landed(lattice.mass.size(), 0.0);
    bool any = false;
    std::vector<std::uint32_t> under;
    each_fallen_part([&](const std::vector<Place>& part) {
        double mass = 0;
        under.clear();
        for (const Place at : part) {
            mass += lattice.mass[lattice.bricks[at.brick].slot(at.bit)];
            const Place below = lattice.beside(at, 3);
            const Brick& b = lattice.bricks[below.brick];
            if (b.exists() >> below.bit & 1) under.push_back(b.slot(below.bit));
        }
        std::sort(under.begin(), under.end());
        under.erase(std::unique(under.begin(), under.end()), under.end());
        for (const std::uint32_t slot : under) landed[slot] += mass / double(under.size());
        any = any || !under.empty();
    });
    if (!any && landed_.empty()) return false;
    const bool changed = landed != landed_;
    landed_.swap(landed);
    return changed;
}

void Engine::collect(StructureReport& report) const {
    const Lattice& lattice = solver_.lattice;
    each_fallen_part([&](const std::vector<Place>& part) {
        std::vector<Cell> cells;
        for (const Place at : part)
            cells.push_back(lattice.frame.outer(cell_of(lattice.bricks[at.brick].coord, at.bit)));
        std::sort(cells.begin(), cells.end());
        report.parts.push_back(std::move(cells));
    });
    std::sort(report.parts.begin(), report.parts.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a[0] < b[0];
    });
    report.broken_bonds = broken_;
    std::sort(report.broken_bonds.begin(), report.broken_bonds.end());
}

void Engine::sever(const Link& link) {
    Brick& b = solver_.lattice.bricks[link.brick];
    broken_.push_back(bond_of(link));
    (link.low == kGroundEnd ? b.ground : b.bond[link.axis]) &= ~(Word(1) << link.bit);
}

// What moves in the mechanism found comes off from what does not. @return whether there was a bond to cut
bool Engine::cut_mechanism() {
    const auto moves = [&](Place at) { return (moving_[at.brick] >> at.bit & 1) != 0; };
    std::vector<Link> cut;
    solver_.lattice.for_each_link([&](const Link& link) {
        const Place from{link.brick, link.bit};
        const bool low = !(link.low & kFixedEnd) && moves(from);
        const bool high = link.low == kGroundEnd ? moves(from)
                                                 : !(link.high & kFixedEnd) &&
                                                       moves(solver_.lattice.beside(from, 2 * link.axis));
        if (low != high) cut.push_back(link);
    });
    for (const Link& link : cut) sever(link);
    return !cut.empty();
}

StructureReport Engine::solve(const StructureSettings& settings, StructureSolver::Progress progress,
                              void* context) {
    const bool same = same_question(settings_, settings);
    settings_ = settings;
    StructureReport report;
    take_over(settings.up);
    if (warm_ && whole_ && same && solve_again(report)) {
        if (progress && !progress(context, 1)) return {};
        return report;
    }
    edits_.clear();
    renumber_ = false;
    Lattice& lattice = solver_.lattice;
    lattice.set_supports(settings.no_tension);
    for (Brick& b : lattice.bricks)
        for (Word& w : b.bond) w = ~Word(0);
    fell_.assign(lattice.bricks.size(), 0);
    broken_.clear();
    landed_.clear();
    thrusts_.clear();
    balances_ = iterations_ = 0;
    work_ = 0;
    bool have_pin = false;
    for (const StructurePin& pin : pins) {
        std::uint32_t brick;
        int bit;
        have_pin = have_pin || lattice.find(lattice.frame.inner(pin.cell), brick, bit);
    }
    for (const Brick& b : lattice.bricks) report.supports += std::uint32_t(std::popcount(b.fixed | b.ground));
    if (report.supports == 0 && !have_pin) {
        warm_ = false;
        return report;
    }
    units();

    bool decided = true, quiet = true;
    bool keep = warm_;
    warm_ = false;
    for (int weighing = 0;; weighing++) {
        std::size_t dropped = 0;
        for (int batch = 0;; batch++) {
            if (batch >= settings.max_batches || work_ > settings.max_work) {
                decided = false;
                break;
            }
            dropped += drop_unjoined();
            renumber(keep);
            if (balances_) work_ += kRenumber * lattice.nodes;
            keep = true;
            if (batch > 0 && !any_dry_ && break_roughly()) {
                quiet = false;
                if (progress && !progress(context, balances_)) return {};
                continue;
            }
            const Found found = find_balance();
            if (progress && !progress(context, balances_)) return {};
            judge_all();
            if (balances_ == 1) {
                work_ = 0;
                summarise(report);
                report.iterations = iterations_;
            }
            if (found == Found::undecided) {
                decided = false;
                break;
            }
            if (found == Found::falls) {
                quiet = false;
                if (!cut_mechanism()) {
                    decided = false;
                    break;
                }
                continue;
            }
            const double worst = worst_bond().share;
            if (!(worst > kFull)) break;
            quiet = false;
            break_batch(worst);
        }
        if (!decided || dropped == 0 || weighing >= settings.max_weighings || !land_fallen()) break;
        quiet = false;
    }
    if (!decided) {
        drop_unjoined();  // by the last faces that broke
        renumber(true);
    }
    report.rounds = balances_;
    report.all_iterations = iterations_;
    collect(report);
    report.least_utilisation = report.most_utilisation = report.max_utilisation;
    if (!decided && !bound_utilisation(report)) {
        report.least_utilisation = 0;
        report.most_utilisation = kUnbounded;
    }
    warm_ = quiet && decided;
    whole_ = warm_ && report.parts.empty();
    // What has come off has fallen, whatever else was not decided.
    report.settled = decided;
    report.verdict = !report.parts.empty() ? Verdict::falls : decided ? Verdict::stands : Verdict::undecided;
    return report;
}

}  // namespace talus::physical
