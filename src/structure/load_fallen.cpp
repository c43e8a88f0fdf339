// What has fallen: its parts, what they land on, and the report.
#include "structure/load_engine.h"

#include <algorithm>
#include <utility>

namespace talus::load {

// Fills part_ with the fallen part that holds this block and sets near[3] on it, which must be set on all
// that stands; near[0] must be clear. A tile may come up in more than one entry.
void Engine::flood_part(std::uint32_t start, int bit) {
    part_.clear();
    const auto reach = [&](std::uint32_t t, Word bits) {
        Tile& tile = tiles[t];
        bits &= ~(tile.near[3] | tile.near[0]);
        if (!bits) return;
        if (!tile.near[0]) stack_.push_back(t);
        tile.near[0] |= bits;
    };
    reach(start, Word(1) << bit);
    while (!stack_.empty()) {
        const std::uint32_t t = stack_.back();
        stack_.pop_back();
        Tile& tile = tiles[t];
        Word wave = tile.near[0];
        tile.near[0] = 0;
        // Inside the tile until nothing is added, then over its borders once.
        const Word x = tile.bond[0] & ~kColumn7, z = tile.bond[2];
        for (Word before = 0; before != wave;) {
            before = wave;
            wave |= (wave & x) << 1 | ((wave >> 1) & x) | (wave & z) << 8 | ((wave >> 8) & z);
        }
        wave &= ~tile.near[3];
        tile.near[3] |= wave;
        part_.push_back({t, std::uint32_t(wave), std::uint32_t(wave >> 32)});
        for_each_direction([&]<int D>() {
            Word across = 0;
            if constexpr (D % 2 == 0)
                across = moved_across<D>(wave & tile.bond[D / 2]);
            else
                across = moved_across<D>(wave) & tiles[tile.nb[D]].bond[D / 2];
            if (across) reach(tile.nb[D], across);
        });
    }
}

// Loads from all fallen parts onto the standing blocks right under them. @return whether there are any
bool Engine::land_fallen() {
    const int up = up_;
    landed_at_.resize(tiles.end_tile());
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        tiles[t].near[0] = 0;
        tiles[t].near[3] =
            tiles[t].reached;  // a flood never enters what stands: no unbroken bond leads there
        tiles[t].near[2] = landed_at_[t].blocks;
    }
    // Standing blocks with a fallen one right above.
    std::uint32_t total = 0;
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        Tile& tile = tiles[t];
        const Tile& next = tiles[tile.nb[up]];
        const Word own = tile.exists & ~tile.reached, over = next.exists & ~next.reached;
        Word above = 0;
        for_each_direction([&]<int D>() {
            if (D == up) above = seen<D>(own, over);
        });
        const Word landed = tile.reached & ~tile.support & above;
        // Supports take their part of the load but need not know of it.
        tile.near[1] = tile.reached & above;
        landed_at_[t] = {landed, total};
        total += std::uint32_t(std::popcount(landed));
    }
    landed_.resize(total);
    count_.resize(tiles.kind_count(), 0);

    for (std::uint32_t t = 1; total && t < tiles.end_tile(); t++) {
        for (Word rest; (rest = tiles[t].exists & ~tiles[t].near[3]) != 0;) {
            flood_part(t, std::countr_zero(rest));
            // The blocks under the part, and its mass, added in ascending order.
            std::uint32_t under = 0;
            for (const Wave& w : part_) {
                const Tile& tile = tiles[w.tile];
                for_each_direction([&]<int D>() {
                    if (D != (up ^ 1)) return;
                    under += std::uint32_t(std::popcount(moved_inside<D>(w.word()) & tile.near[1]));
                    under +=
                        std::uint32_t(std::popcount(moved_across<D>(w.word()) & tiles[tile.nb[D]].near[1]));
                });
            }
            if (under == 0) continue;
            for (const Wave& w : part_)
                for_each_bit(w.word(), [&](int bit) {
                    const std::uint32_t k = tiles.kind_id(tiles.index_in(tiles[w.tile], bit));
                    if (count_[k]++ == 0) touched_.push_back(k);
                });
            std::sort(touched_.begin(), touched_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return tiles.kind(a).mass < tiles.kind(b).mass;
            });
            double mass = 0;
            for (const std::uint32_t k : touched_)
                for (; count_[k]; count_[k]--) mass += tiles.kind(k).mass;
            touched_.clear();
            const double each = mass / under;
            for (const Wave& w : part_) {
                const auto land = [&](const LandedTile& at, Word bits) {
                    for_each_bit(bits & at.blocks, [&](int bit) {
                        landed_[at.base + std::uint32_t(std::popcount(at.blocks & ((Word(1) << bit) - 1)))] =
                            each;
                    });
                };
                for_each_direction([&]<int D>() {
                    if (D != (up ^ 1)) return;
                    land(landed_at_[w.tile], moved_inside<D>(w.word()));
                    land(landed_at_[tiles[w.tile].nb[D]], moved_across<D>(w.word()));
                });
            }
        }
    }
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        Tile& tile = tiles[t];
        tile.dirty |= landed_at_[t].blocks | tile.near[2];
    }
    return total != 0;
}

// Everything comes out in order of cells, row by row, so that a million cells in many parts need no sorting.
void Engine::collect(StructureReport& report) {
    std::size_t broken = 0;
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        tiles[t].near[0] = 0;
        tiles[t].near[3] = tiles[t].reached;
    }
    // Numbers the parts, as the floods find them. What fell has no distance: its place holds the number.
    std::vector<std::uint32_t>& part_of = distance_;
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++)
        for (Word rest; (rest = tiles[t].exists & ~tiles[t].near[3]) != 0;) {
            flood_part(t, std::countr_zero(rest));
            std::uint32_t size = 0;
            for (const Wave& w : part_)
                for_each_bit(w.word(), [&](int bit) {
                    part_of[Tiles::index_in(tiles[w.tile], bit)] = std::uint32_t(sizes.size());
                    size++;
                });
            sizes.push_back(size);
        }
    for (std::uint32_t t = 1; t < tiles.end_tile(); t++) {
        Tile& tile = tiles[t];
        tile.near[3] = tile.exists & ~tile.reached;
        tile.near[0] = tiles.all_bonds<0>(tile) & ~tile.bond[0];
        tile.near[1] = tiles.all_bonds<1>(tile) & ~tile.bond[1];
        tile.near[2] = tiles.all_bonds<2>(tile) & ~tile.bond[2];
        for (int axis = 0; axis < 3; axis++) broken += std::size_t(std::popcount(tile.near[axis]));
    }

    // Their order: by size, then by lowest cell, which is the order in which the cells come by. Most of many
    // parts are small: these are counted, not sorted.
    constexpr std::uint32_t kUnseen = 0xffffffffu, kSmall = 256;
    std::vector<std::uint32_t> place(sizes.size(), kUnseen), seen, large;
    std::uint32_t next_of_size[kSmall] = {};
    seen.reserve(sizes.size());
    if (!sizes.empty())
        tiles.for_each_in_order([](const Tile& tile) { return tile.near[3]; },
                                [&](const Tile& tile, int bit) {
                                    const std::uint32_t part = part_of[Tiles::index_in(tile, bit)];
                                    if (place[part] != kUnseen) return;
                                    place[part] = std::uint32_t(seen.size());
                                    seen.push_back(part);
                                    if (sizes[part] < kSmall)
                                        next_of_size[sizes[part]]++;
                                    else
                                        large.push_back(part);
                                });
    std::sort(large.begin(), large.end(), [&](std::uint32_t a, std::uint32_t b) {
        return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : place[a] < place[b];
    });
    for (std::uint32_t size = kSmall, next = std::uint32_t(large.size()); size-- > 0;)
        next += std::exchange(next_of_size[size], next);
    for (const std::uint32_t part : seen)
        if (sizes[part] < kSmall) place[part] = next_of_size[sizes[part]]++;
    for (std::uint32_t i = 0; i < large.size(); i++) place[large[i]] = i;
    report.parts.resize(sizes.size());
    for (std::uint32_t part = 0; part < sizes.size(); part++) report.parts[place[part]].reserve(sizes[part]);
    if (!sizes.empty())
        tiles.for_each_in_order([](const Tile& tile) { return tile.near[3]; },
                                [&](const Tile& tile, int bit) {
                                    report.parts[place[part_of[Tiles::index_in(tile, bit)]]].push_back(
                                        tiles.outer(Tiles::cell_at(tile, bit)));
                                });
    report.broken_bonds.reserve(broken);
    if (broken)
        tiles.for_each_in_order([](const Tile& tile) { return tile.near[0] | tile.near[1] | tile.near[2]; },
                                [&](const Tile& tile, int bit) {
                                    const Cell c = Tiles::cell_at(tile, bit);
                                    for (const int axis : {0, 2, 1})  // the order of the other ends
                                        if (tile.near[axis] >> bit & 1)
                                            report.broken_bonds.emplace_back(
                                                tiles.outer(c), tiles.outer(c + kStep[2 * axis]));
                                });
    if (tiles.is_turned()) {
        // That was the order of the inner cells.
        for (std::vector<Cell>& part : report.parts) std::sort(part.begin(), part.end());
        std::sort(report.parts.begin(), report.parts.end(), [](const auto& a, const auto& b) {
            return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
        });
        std::sort(report.broken_bonds.begin(), report.broken_bonds.end(), [](const Bond& a, const Bond& b) {
            return a.first == b.first ? a.second < b.second : a.first < b.first;
        });
    }
}

}  // namespace talus::load
