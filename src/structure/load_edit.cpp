// Edits of a structure at rest: what they change of the first round, and nothing else.
//
// Distances by the way of Ramalingam and Reps: first the blocks whose every shortest way led through what was
// taken out lose their distance, nearest first; then these and the placed blocks get the best that the others
// offer, and whoever is nearer by that passes it on. Then the flow around each block with another distance is
// set anew, and dirty blocks are weighed from farthest to nearest, as long as loads change. The lists for it
// were made with the first solve: what does not fit into them is solved from nothing.
#include "structure/load_engine.h"
#include "structure/load_weigh.h"

#include <algorithm>

namespace talus::load {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffffu;

// Orders with all keys, though no answer depends on the order of equals.
template <class N>
bool nearer_last(const N& a, const N& b) {
    if (a.distance != b.distance) return a.distance > b.distance;
    return a.tile != b.tile ? a.tile > b.tile : a.bit > b.bit;
}
template <class N>
bool farther_last(const N& a, const N& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.tile != b.tile ? a.tile < b.tile : a.bit < b.bit;
}

}  // namespace

std::uint32_t Engine::distance_at(std::uint32_t t, int bit) const {
    const Tile& tile = tiles[t];
    if (!(tile.reached >> bit & 1)) return kNowhere;
    return tile.support >> bit & 1 ? 0 : distance_[Tiles::index_in(tile, bit)];
}

void Engine::note(std::vector<Node>& list, const Node& node) {
    if (list.size() < list.capacity())
        list.push_back(node);
    else
        too_many_ = true;
}

// Notes that the block is to be weighed anew.
void Engine::touch(std::uint32_t t, int bit) {
    const Word one = Word(1) << bit;
    if (tiles[t].dirty & one) return;
    tiles[t].dirty |= one;
    note(dirty_, {0, t, std::uint32_t(bit)});
}

bool Engine::remove(Cell outer) {
    const Cell cell = tiles.inner(outer);
    const std::uint32_t t = tiles.find(cell);
    const int bit = Tiles::bit_of(cell);
    const Word one = Word(1) << bit;
    if (!(tiles[t].exists & one)) return false;
    if (at_rest_) {
        const std::uint32_t distance = distance_at(t, bit);
        for_each_direction([&]<int D>() {
            if (!(tiles.bonds<D>(tiles[t]) & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(t, bit);
            const Word there = Word(1) << nbit;
            if constexpr (D % 2 == 0)
                tiles[t].bond[D / 2] &= ~one;
            else
                tiles[nt].bond[D / 2] &= ~there;
            if (tiles[t].flow[D] & one) touch(nt, nbit);
            if (tiles[nt].flow[D ^ 1] & there) {
                tiles[nt].flow[D ^ 1] &= ~there;
                touch(nt, nbit);
                const std::uint32_t theirs = distance_at(nt, nbit);
                if (theirs == distance + std::uint32_t(step_cost(D)))
                    note(suspects_, {theirs, nt, std::uint32_t(nbit)});
            }
        });
        Tile& tile = tiles[t];
        for (Word& f : tile.flow) f &= ~one;
        if (tile.reached & one) reached_count_--;
        tile.reached &= ~one;
    }
    return tiles.remove(outer);
}

void Engine::place(const StructureBlock& block) {
    remove(block.cell);
    const Cell cell = tiles.inner(block.cell);
    const std::uint32_t t = tiles.find(cell);
    const Tile before = tiles[t];
    const std::uint32_t slots = tiles.slot_count();
    tiles.place(block);
    if (live_.capacity() + 1 < tiles.end_tile()) live_.reserve(tiles.end_tile() + tiles.end_tile() / 8);
    if (!at_rest_) return;
    if (!landed_at_.empty()) landed_at_.clear();

    const std::uint32_t at = tiles.find(cell);
    const int bit = Tiles::bit_of(cell);
    const Word one = Word(1) << bit;
    if (tiles.slot_count() != slots) {
        grow_to(unit_, tiles.slot_count());
        grow_to(distance_, tiles.slot_count());
        if (t != kNullTile)
            for_each_bit(before.slots, [&](int b) {
                const std::uint32_t from = Tiles::index_in(before, b), to = Tiles::index_in(tiles[at], b);
                unit_[to] = unit_[from];
                distance_[to] = distance_[from];
            });
    }
    for_each_direction([&]<int D>() {
        const auto [nt, nbit] = tiles.next_to<D>(at, bit);
        if (!(tiles[nt].exists >> nbit & 1)) return;
        if constexpr (D % 2 == 0)
            tiles[at].bond[D / 2] |= one;
        else
            tiles[nt].bond[D / 2] |= Word(1) << nbit;
    });
    note(placed_, {kNowhere, at, std::uint32_t(bit)});
}

// Who has no shortest way any more. They are in changed_ then.
void Engine::raise_distances() {
    heap_.swap(suspects_);
    std::make_heap(heap_.begin(), heap_.end(), nearer_last<Node>);
    while (!heap_.empty() && !too_many_) {
        std::pop_heap(heap_.begin(), heap_.end(), nearer_last<Node>);
        const Node node = heap_.back();
        heap_.pop_back();
        const int bit = int(node.bit);
        const Word one = Word(1) << bit;
        if (!(tiles[node.tile].reached & one) || (tiles[node.tile].support & one)) continue;
        bool held = false;
        for_each_direction([&]<int D>() {
            if (held || !(tiles.bonds<D>(tiles[node.tile]) & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(node.tile, bit);
            const std::uint32_t theirs = distance_at(nt, nbit);
            held = theirs != kNowhere && theirs + std::uint32_t(step_cost(D ^ 1)) == node.distance;
        });
        if (held) continue;
        for_each_direction([&]<int D>() {
            if (!(tiles.bonds<D>(tiles[node.tile]) & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(node.tile, bit);
            const std::uint32_t theirs = distance_at(nt, nbit);
            if (theirs != node.distance + std::uint32_t(step_cost(D))) return;
            note(heap_, {theirs, nt, std::uint32_t(nbit)});
            std::push_heap(heap_.begin(), heap_.end(), nearer_last<Node>);
        });
        tiles[node.tile].reached &= ~one;
        reached_count_--;
        note(changed_, node);
    }
}

// Who has none, or could have a shorter way through a placed block.
void Engine::lower_distances() {
    const auto offer = [&](std::uint32_t t, int bit, std::uint32_t distance) {
        if (distance >= distance_at(t, bit)) return;
        note(heap_, {distance, t, std::uint32_t(bit)});
        std::push_heap(heap_.begin(), heap_.end(), nearer_last<Node>);
    };
    const auto offer_best = [&](const Node& node) {
        const int bit = int(node.bit);
        const Word one = Word(1) << bit;
        if (!(tiles[node.tile].exists & one)) return;  // placed and taken out again
        std::uint32_t best = tiles[node.tile].support & one ? 0 : kNowhere;
        for_each_direction([&]<int D>() {
            if (!(tiles.bonds<D>(tiles[node.tile]) & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(node.tile, bit);
            const std::uint32_t theirs = distance_at(nt, nbit);
            if (theirs == kNowhere) return;
            const std::uint32_t d = theirs + std::uint32_t(step_cost(D ^ 1));
            best = d < best ? d : best;
        });
        offer(node.tile, bit, best);
    };
    for (const Node& node : changed_) offer_best(node);
    for (const Node& node : placed_) offer_best(node);
    while (!heap_.empty() && !too_many_) {
        std::pop_heap(heap_.begin(), heap_.end(), nearer_last<Node>);
        const Node node = heap_.back();
        heap_.pop_back();
        const int bit = int(node.bit);
        const Word one = Word(1) << bit;
        if (node.distance >= distance_at(node.tile, bit)) continue;
        Tile& tile = tiles[node.tile];
        if (!(tile.reached & one)) reached_count_++;
        tile.reached |= one;
        distance_[Tiles::index_in(tile, bit)] = node.distance;
        note(changed_, node);
        for_each_direction([&]<int D>() {
            if (!(tiles.bonds<D>(tiles[node.tile]) & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(node.tile, bit);
            offer(nt, nbit, node.distance + std::uint32_t(step_cost(D)));
        });
    }
}

// The flow over all bonds of a block, by the distances of now.
void Engine::renew_flow(std::uint32_t t, int bit) {
    const Word one = Word(1) << bit;
    const std::uint32_t mine = distance_at(t, bit);
    for_each_direction([&]<int D>() {
        if (!(tiles.bonds<D>(tiles[t]) & one)) return;
        const auto [nt, nbit] = tiles.next_to<D>(t, bit);
        const Word there = Word(1) << nbit;
        const std::uint32_t theirs = distance_at(nt, nbit);
        // kNowhere is larger than any distance: what is not reached has to be asked for.
        const bool out = mine != kNowhere && theirs < mine;
        const bool in = theirs != kNowhere && mine < theirs;
        Word &flow_out = tiles[t].flow[D], &flow_in = tiles[nt].flow[D ^ 1];
        if (((flow_out & one) != 0) == out && ((flow_in & there) != 0) == in) return;
        flow_out = out ? flow_out | one : flow_out & ~one;
        flow_in = in ? flow_in | there : flow_in & ~there;
        touch(t, bit);
        touch(nt, nbit);
    });
}

template <int Up>
void Engine::weigh_dirty() {
    heap_.clear();
    for (Node& node : dirty_) {
        node.distance = distance_at(node.tile, int(node.bit));
        if (node.distance == kNowhere)
            tiles[node.tile].dirty &= ~(Word(1) << node.bit);
        else
            note(heap_, node);
    }
    std::make_heap(heap_.begin(), heap_.end(), farther_last<Node>);
    std::size_t weighed = 0;
    while (!heap_.empty() && !too_many_) {
        std::pop_heap(heap_.begin(), heap_.end(), farther_last<Node>);
        const Node node = heap_.back();
        heap_.pop_back();
        const Word one = Word(1) << node.bit;
        Tile& tile = tiles[node.tile];
        tile.dirty &= ~one;
        if (tile.support & one) continue;
        if (++weighed > tiles.block_count() / 12 + 256) too_many_ = true;
        if (!weigh_blocks<Up>(node.tile, one)) continue;
        for_each_direction([&]<int D>() {
            if (!(tile.flow[D] & one)) return;
            const auto [nt, nbit] = tiles.next_to<D>(node.tile, int(node.bit));
            const Word there = Word(1) << nbit;
            if (tiles[nt].dirty & there) return;
            tiles[nt].dirty |= there;
            note(heap_, {distance_at(nt, nbit), nt, std::uint32_t(nbit)});
            std::push_heap(heap_.begin(), heap_.end(), farther_last<Node>);
        });
    }
}

// The first round anew after edits. @return false when so much changed that all may as well be done again;
// the state is then of no use but to begin() from
bool Engine::update() {
    broken_ = 0;
    landed_at_.clear();
    raise_distances();
    lower_distances();
    for (const Node& node : changed_) renew_flow(node.tile, int(node.bit));
    for (const Node& node : placed_) renew_flow(node.tile, int(node.bit));
    with_up([&]<int Up>() { weigh_dirty<Up>(); });
    if (broken_) all_live();  // edits may have reached what was not
    heap_.clear();
    suspects_.clear();
    placed_.clear();
    changed_.clear();
    dirty_.clear();
    return !too_many_;
}

}  // namespace talus::load
