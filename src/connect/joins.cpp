#include "connect/joins.h"

#include "connect/flood.h"

#include <algorithm>
#include <cstdlib>

namespace talus {

namespace {

Joins::Diagonal ordered(Cell a, Cell b) { return a < b ? Joins::Diagonal{a, b} : Joins::Diagonal{b, a}; }

int axes_apart(Cell a, Cell b) { return (a.x != b.x) + (a.y != b.y) + (a.z != b.z); }

/// The two cells that share a face with both ends of an edge diagonal.
std::pair<Cell, Cell> bridges(Cell a, Cell b) {
    if (a.x == b.x) return {{a.x, a.y, b.z}, {a.x, b.y, a.z}};
    if (a.y == b.y) return {{a.x, a.y, b.z}, {b.x, a.y, a.z}};
    return {{a.x, b.y, a.z}, {b.x, a.y, a.z}};
}

constexpr Cell kFaces[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};

/// f(neighbour) for each solid that holds the solid at `cell` directly.
template <class F>
void for_each_held(const Grid& grid, const Joins& joins, Cell cell, F&& f) {
    for (int dy = -1; dy <= 1; dy++)
        for (int dz = -1; dz <= 1; dz++)
            for (int dx = -1; dx <= 1; dx++) {
                if (!dx && !dy && !dz) continue;
                const Cell other = cell + Cell{dx, dy, dz};
                if (grid.is_solid(other) && joins.holds(grid, cell, other)) f(other);
            }
}

}  // namespace

void Joins::forget(Cell cell) {
    if (cut_.empty()) return;
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) {
            const Cell other = cell + kFaces[i] + kFaces[j];
            if (axes_apart(cell, other) == 2) cut_.erase(ordered(cell, other));
        }
}

void Joins::solid_removed(const Grid& grid, Cell cell) {
    // Diagonals that ended here are gone with the block.
    forget(cell);
    // Diagonals this block bridged, with no other bridge left, break.
    for (int i = 0; i < 6; i++)
        for (int j = i + 1; j < 6; j++) {
            const Cell a = cell + kFaces[i], b = cell + kFaces[j];
            if (axes_apart(a, b) != 2) continue;  // opposite faces
            if (!grid.is_solid(a) || !grid.is_solid(b)) continue;
            const auto [c, d] = bridges(a, b);
            if (!grid.is_solid(c) && !grid.is_solid(d)) cut_.insert(ordered(a, b));
        }
}

void Joins::solid_added(Cell cell) { forget(cell); }

bool Joins::holds(const Grid& grid, Cell a, Cell b) const {
    if (axes_apart(a, b) != 2) return true;
    const auto [c, d] = bridges(a, b);
    if (grid.is_solid(c) || grid.is_solid(d)) return true;  // through the bridge
    return !cut_.count(ordered(a, b));
}

Joins Joins::for_part(const Grid& part) const {
    Joins out;
    if (cut_.empty()) return out;
    constexpr Cell kLowest{INT32_MIN, INT32_MIN, INT32_MIN};
    part.for_each([&](Cell cell, BlockId) {
        for (auto it = cut_.lower_bound({cell, kLowest}); it != cut_.end() && it->first == cell; ++it)
            if (part.is_solid(it->first) && part.is_solid(it->second)) out.cut_.insert(*it);
    });
    return out;
}

std::optional<Cell> nearest_solid(const Grid& grid, Cell cell) {
    if (grid.solid_count() == 0) return std::nullopt;
    std::optional<Cell> best;
    std::int64_t best_distance = INT64_MAX;
    auto consider = [&](Cell c) {
        const std::int64_t x = c.x - cell.x, y = c.y - cell.y, z = c.z - cell.z;
        const std::int64_t d = x * x + y * y + z * z;
        if (d < best_distance || (d == best_distance && c < *best)) {
            best_distance = d;
            best = c;
        }
    };
    // Shells of growing edge around the cell; nothing in shell r is nearer than r.
    constexpr int kShells = 8;
    for (int r = 1; r <= kShells; r++) {
        if (best && std::int64_t(r) * r > best_distance) return best;
        for (int dy = -r; dy <= r; dy++)
            for (int dz = -r; dz <= r; dz++) {
                const bool inner = std::abs(dy) < r && std::abs(dz) < r;
                for (int dx = -r; dx <= r; dx += inner ? 2 * r : 1) {
                    const Cell c = cell + Cell{dx, dy, dz};
                    if (grid.is_solid(c)) consider(c);
                }
            }
    }
    if (best && best_distance <= std::int64_t(kShells) * kShells) return best;
    grid.for_each([&](Cell c, BlockId id) {
        if (grid.table().flags(id).solid) consider(c);
    });
    return best;
}

namespace {

/// A label for each cell of a grid, in arrays beside its bricks.
class CellLabels {
 public:
    static constexpr std::uint32_t kNone = 0;

    std::uint32_t& at(Cell cell) {
        const Cell brick = brick_of(cell);
        if (!last_ || !(last_coord_ == brick)) {
            auto [it, fresh] = map_.try_emplace(brick);
            if (fresh) it->second = std::make_unique<std::uint32_t[]>(512);
            last_ = it->second.get();
            last_coord_ = brick;
        }
        return last_[index_in_brick(cell)];
    }
    std::uint32_t get(Cell cell) const {
        const auto it = map_.find(brick_of(cell));
        return it == map_.end() ? kNone : it->second[std::size_t(index_in_brick(cell))];
    }

 private:
    struct Less {
        bool operator()(Cell a, Cell b) const { return a < b; }
    };
    std::map<Cell, std::unique_ptr<std::uint32_t[]>, Less> map_;
    std::uint32_t* last_ = nullptr;
    Cell last_coord_;
};

std::vector<std::vector<Cell>> parts_by_flood(const Grid& grid, const Joins& joins, std::size_t first) {
    auto parts = Flood(grid, joins).cells_from(first);
    hang_non_solids(grid, parts);
    for (auto& part : parts) std::sort(part.begin(), part.end());
    return parts;
}

}  // namespace

void hang_non_solids(const Grid& grid, std::vector<std::vector<Cell>>& parts) {
    if (parts.empty() || grid.solid_count() == grid.block_count()) return;
    CellLabels labels;
    CellBox near{brick_of(parts[0].front()), brick_of(parts[0].front())};  // bricks of the parts
    for (std::size_t p = 0; p < parts.size(); p++)
        for (Cell c : parts[p]) {
            labels.at(c) = std::uint32_t(p + 1);
            const Cell b = brick_of(c);
            near.min = {std::min(near.min.x, b.x), std::min(near.min.y, b.y), std::min(near.min.z, b.z)};
            near.max = {std::max(near.max.x, b.x), std::max(near.max.y, b.y), std::max(near.max.z, b.z)};
        }
    // Bricks that do not touch those: a non-solid that touches a solid inside its brick hangs on one close
    // by, which is none of theirs.
    const CellBox around{near.min - Cell{1, 1, 1}, near.max + Cell{1, 1, 1}};
    for (const Brick* brick : grid.bricks())
        for (int y = 0; y < 8; y++) {
            std::uint64_t hanging = brick->any[y] & ~brick->solid[y];
            if (hanging && !around.contains(brick->coord))
                hanging &= ~grow_layer(brick->solid[y] | (y > 0 ? brick->solid[y - 1] : 0) |
                                       (y < 7 ? brick->solid[y + 1] : 0));
            for (; hanging; hanging &= hanging - 1) {
                const Cell cell = cell_in_brick(*brick, 64 * y + __builtin_ctzll(hanging));
                const auto solid = nearest_solid(grid, cell);
                const std::uint32_t part = solid ? labels.get(*solid) : CellLabels::kNone;
                if (part != CellLabels::kNone) parts[part - 1].push_back(cell);
            }
        }
}

std::vector<std::vector<Cell>> find_parts(const Grid& grid, const Joins& joins) {
    return parts_by_flood(grid, joins, 0);
}

std::vector<std::vector<Cell>> find_loose_parts(const Grid& grid, const Joins& joins) {
    return parts_by_flood(grid, joins, 1);
}

std::vector<std::vector<Cell>> find_split(const Grid& grid, const Joins& joins,
                                          std::span<const Cell> removed) {
    // One search front from every solid next to what was removed; fronts that meet unite.
    struct Front {
        std::vector<Cell> cells;  // found so far; cells[next..] still to look from
        std::size_t next = 0;
        std::uint32_t united_with = 0;  // 0: itself
    };
    std::vector<Front> fronts;
    CellLabels labels;
    for (Cell cell : removed)
        for (int dy = -1; dy <= 1; dy++)
            for (int dz = -1; dz <= 1; dz++)
                for (int dx = -1; dx <= 1; dx++) {
                    const Cell c = cell + Cell{dx, dy, dz};
                    if (!grid.is_solid(c) || labels.at(c) != CellLabels::kNone) continue;
                    fronts.emplace_back().cells.push_back(c);
                    labels.at(c) = std::uint32_t(fronts.size());
                }
    auto root = [&](std::uint32_t label) {
        while (fronts[label - 1].united_with) label = fronts[label - 1].united_with;
        return label;
    };
    auto unite = [&](std::uint32_t a, std::uint32_t b) {
        Front* to = &fronts[a - 1];
        Front* from = &fronts[b - 1];
        // Cells already looked from stay before `next`.
        std::vector<Cell> cells(to->cells.begin(), to->cells.begin() + std::ptrdiff_t(to->next));
        cells.insert(cells.end(), from->cells.begin(), from->cells.begin() + std::ptrdiff_t(from->next));
        const std::size_t next = cells.size();
        cells.insert(cells.end(), to->cells.begin() + std::ptrdiff_t(to->next), to->cells.end());
        cells.insert(cells.end(), from->cells.begin() + std::ptrdiff_t(from->next), from->cells.end());
        to->cells = std::move(cells);
        to->next = next;
        from->cells.clear();
        from->united_with = a;
    };

    std::vector<std::uint32_t> active;
    for (std::uint32_t i = 1; i <= fronts.size(); i++) active.push_back(i);
    std::vector<std::uint32_t> done;
    auto step = [&](std::uint32_t& label) {  // looks from one cell; false when the front is exhausted
        Front& front = fronts[label - 1];
        if (front.next == front.cells.size()) return false;
        const Cell cell = front.cells[front.next++];
        for_each_held(grid, joins, cell, [&](Cell other) {
            std::uint32_t& seen = labels.at(other);
            if (seen == CellLabels::kNone) {
                seen = label;
                fronts[label - 1].cells.push_back(other);
                return;
            }
            const std::uint32_t there = root(seen);
            if (there == label) return;
            const bool keep = fronts[label - 1].cells.size() >= fronts[there - 1].cells.size();
            unite(keep ? label : there, keep ? there : label);
            label = root(label);
        });
        return true;
    };
    constexpr std::size_t kBound = 1024;  // cells looked from, after which a flood of the grid may be cheaper
    std::size_t looked = 0;
    while (active.size() > 1) {
        looked += active.size();
        if (looked > kBound && looked > grid.bricks().size() / 2) return find_loose_parts(grid, joins);
        std::vector<std::uint32_t> still;
        for (std::uint32_t label : active) {
            if (fronts[label - 1].united_with) continue;
            if (step(label))
                still.push_back(label);
            else
                done.push_back(label);
        }
        std::sort(still.begin(), still.end());
        still.erase(std::unique(still.begin(), still.end()), still.end());
        still.erase(std::remove_if(still.begin(), still.end(),
                                   [&](auto l) { return fronts[l - 1].united_with != 0; }),
                    still.end());
        active.swap(still);
    }
    if (done.empty()) return {};

    // What is neither exhausted nor explored is the rest of the group: its size is known without walking it.
    std::size_t taken = 0, biggest = 0;
    for (auto l : done) {
        taken += fronts[l - 1].cells.size();
        biggest = std::max(biggest, fronts[l - 1].cells.size());
    }
    const std::size_t rest = grid.solid_count() - taken;
    if (!active.empty() && biggest >= rest) {  // the rest may not be the biggest: walk it as well
        std::uint32_t label = active[0];
        while (step(label)) {
        }
        done.push_back(label);
        active.clear();
    }
    std::vector<std::vector<Cell>> parts;
    for (auto l : done) {
        std::sort(fronts[l - 1].cells.begin(), fronts[l - 1].cells.end());
        parts.push_back(std::move(fronts[l - 1].cells));
    }
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
    });
    if (active.empty()) parts.erase(parts.begin());  // the biggest keeps the group
    hang_non_solids(grid, parts);
    for (auto& part : parts) std::sort(part.begin(), part.end());
    return parts;
}

}  // namespace talus
