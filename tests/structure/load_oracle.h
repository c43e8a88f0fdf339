// load_oracle.h - the load rule in its plainest form, to compare the real solver with.
//
// Maps and loops, no tricks, slow. docs/STRUCTURE.md is the rule in words; the steps here carry its numbers.
#pragma once

#include "talus/structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace talus::oracle {

inline Cell step(int axis) {
    static const Cell steps[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    return steps[axis];
}

inline Bond bond(Cell a, Cell b) { return b < a ? Bond{b, a} : Bond{a, b}; }

struct BondOrder {
    bool operator()(const Bond& a, const Bond& b) const {
        if (a.first != b.first) return a.first < b.first;
        return a.second < b.second;
    }
};

class Solver {
 public:
    Solver(const std::vector<StructureBlock>& blocks, const StructureSettings& settings)
        : settings_(settings) {
        for (const StructureBlock& b : blocks) blocks_[b.cell] = b;
    }

    StructureReport solve() {
        StructureReport report;
        for (const auto& [cell, b] : blocks_) report.supports += b.support;
        if (report.supports == 0) return report;  // rule 8

        std::size_t fallen = 0;
        for (int weighing = 0;; weighing++) {
            bool over = false;
            for (int round = 0; round < settings_.max_rounds; round++) {
                report.rounds++;
                over = weigh();
                if (!over) break;
            }
            if (over) find_distances();  // rule 5
            const std::size_t now = blocks_.size() - distance_.size();
            const bool more = now != fallen;
            fallen = now;
            if (!more || weighing == settings_.max_weighings) break;
            if (!land()) break;
        }
        report.verdict = fallen > 0 ? Verdict::falls : Verdict::stands;
        report.parts = fallen_parts();
        std::sort(report.parts.begin(), report.parts.end(), [](const auto& a, const auto& b) {
            return a.size() != b.size() ? a.size() > b.size() : a[0] < b[0];
        });
        report.broken_bonds.assign(broken_.begin(), broken_.end());
        return report;
    }

    /// One round. @return whether a bond broke
    bool weigh() {
        find_distances();
        loads_.clear();

        // Farthest first (rule 3).
        std::vector<Cell> order;
        for (const auto& [cell, d] : distance_) order.push_back(cell);
        std::sort(order.begin(), order.end(), [&](Cell a, Cell b) {
            return distance_[a] != distance_[b] ? distance_[a] > distance_[b] : a < b;
        });
        std::map<Cell, std::vector<double>> incoming;
        std::vector<Bond> over;
        for (const Cell cell : order) {
            const StructureBlock& b = blocks_[cell];
            if (b.support) continue;
            std::vector<double>& in = incoming[cell];
            if (landed_.count(cell)) in.push_back(landed_[cell]);
            std::sort(in.begin(), in.end());
            double load = b.mass;
            for (const double share : in) load += share;

            double shares = 0;
            for (int axis = 0; axis < 6; axis++) shares += weight(cell, axis);
            for (int axis = 0; axis < 6; axis++) {
                const double w = weight(cell, axis);
                if (w == 0) continue;
                const Cell to = cell + step(axis);
                const double share = load / shares * w;
                incoming[to].push_back(share);
                loads_[bond(cell, to)] = share;
                const double mine = b.strength, other = blocks_[to].strength;
                if (share > std::min(mine, other) * capacity(axis)) over.push_back(bond(cell, to));
            }
        }
        broken_.insert(over.begin(), over.end());  // rule 4
        return !over.empty();
    }

    const std::map<Bond, double, BondOrder>& loads() const { return loads_; }

 private:
    int up() const { return int(settings_.up); }
    int down() const { return up() ^ 1; }

    bool joined(Cell a, Cell b) const { return blocks_.count(b) && !broken_.count(bond(a, b)); }

    // Rule 2, by relaxing until nothing changes.
    void find_distances() {
        distance_.clear();
        std::set<Cell> todo;
        for (const auto& [cell, b] : blocks_)
            if (b.support) {
                distance_[cell] = 0;
                todo.insert(cell);
            }
        while (!todo.empty()) {
            const Cell cell = *todo.begin();
            todo.erase(todo.begin());
            for (int axis = 0; axis < 6; axis++) {
                const Cell next = cell + step(axis);
                if (!joined(cell, next)) continue;
                const int d = distance_[cell] + (axis == up() ? 1 : axis == down() ? 3 : 2);
                if (distance_.count(next) && distance_[next] <= d) continue;
                distance_[next] = d;
                todo.insert(next);
            }
        }
    }

    // Shares of the bond of `cell` towards `axis`: 0 when it passes nothing there.
    double weight(Cell cell, int axis) {
        const Cell to = cell + step(axis);
        if (!joined(cell, to) || distance_[to] >= distance_[cell]) return 0;
        return axis == down() ? 4 : 1;
    }

    double capacity(int axis) const {
        if (axis == down()) return settings_.standing_capacity;
        if (axis == up()) return settings_.hanging_capacity;
        return settings_.sideways_capacity;
    }

    std::vector<std::vector<Cell>> fallen_parts() {
        std::vector<std::vector<Cell>> parts;
        std::set<Cell> seen;
        for (const auto& [start, b] : blocks_) {
            if (distance_.count(start) || seen.count(start)) continue;
            std::vector<Cell> part, todo{start};
            seen.insert(start);
            while (!todo.empty()) {
                const Cell cell = todo.back();
                todo.pop_back();
                part.push_back(cell);
                for (int axis = 0; axis < 6; axis++) {
                    const Cell next = cell + step(axis);
                    if (joined(cell, next) && seen.insert(next).second) todo.push_back(next);
                }
            }
            std::sort(part.begin(), part.end());
            parts.push_back(part);
        }
        return parts;
    }

    // Rule 6. @return whether anything that can break is loaded
    bool land() {
        landed_.clear();
        bool any = false;
        for (const std::vector<Cell>& part : fallen_parts()) {
            std::vector<Cell> under;
            std::vector<double> masses;
            for (const Cell cell : part) {
                masses.push_back(blocks_[cell].mass);
                const Cell below = cell + step(down());
                if (distance_.count(below)) under.push_back(below);
            }
            std::sort(masses.begin(), masses.end());
            double mass = 0;
            for (const double m : masses) mass += m;
            for (const Cell cell : under) {
                landed_[cell] = mass / double(under.size());
                if (!blocks_[cell].support) any = true;
            }
        }
        return any;
    }

    StructureSettings settings_;
    std::map<Cell, StructureBlock> blocks_;
    std::set<Bond, BondOrder> broken_;
    std::map<Cell, int> distance_;
    std::map<Cell, double> landed_;
    std::map<Bond, double, BondOrder> loads_;
};

inline StructureReport solve(const std::vector<StructureBlock>& blocks,
                             const StructureSettings& settings = {}) {
    return Solver(blocks, settings).solve();
}

}  // namespace talus::oracle
