#include "structure/physical_lattice.h"

#include "base/hash.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace talus::physical {

Cell Frame::turned(Cell c) const {
    const int in[3] = {c.x, c.y, c.z};
    return {in[from[0]] * sign[0] + offset.x, in[from[1]] * sign[1] + offset.y,
            in[from[2]] * sign[2] + offset.z};
}
// A coordinate that no block has becomes one that none has either.
Cell Frame::near(Cell c) const {
    if (known[0].empty()) {
        // Far from all blocks sums could run over: any cell that is nowhere near does.
        const auto tame = [](int v) { return v > -(1 << 29) && v < 1 << 29; };
        return tame(c.x) && tame(c.y) && tame(c.z) ? c : Cell{-(1 << 29), -(1 << 29), -(1 << 29)};
    }
    const auto at = [&](int axis, int v) {
        const auto found = std::lower_bound(known[axis].begin(), known[axis].end(), v);
        if (found == known[axis].end() || *found != v) return -(1 << 29);
        return packed[axis][std::size_t(found - known[axis].begin())];
    };
    return {at(0, c.x), at(1, c.y), at(2, c.z)};
}
Cell Frame::outer(Cell c) const {
    const int in[3] = {c.x - offset.x, c.y - offset.y, c.z - offset.z};
    int out[3];
    for (int i = 0; i < 3; i++) out[from[i]] = in[i] * sign[i];
    if (!known[0].empty())
        for (int i = 0; i < 3; i++) {
            const auto found = std::lower_bound(packed[i].begin(), packed[i].end(), out[i]);
            out[i] = known[i][std::size_t(found - packed[i].begin())];
        }
    return {out[0], out[1], out[2]};
}
// Adding zero turns -0 into 0, so that mirrored copies have the same bits.
DVec3 Frame::inner(DVec3 v) const {
    return {v[from[0]] * sign[0] + 0.0, v[from[1]] * sign[1] + 0.0, v[from[2]] * sign[2] + 0.0};
}
DVec3 Frame::outer(DVec3 v) const {
    DVec3 out;
    for (int i = 0; i < 3; i++) out[from[i]] = v[i] * sign[i] + 0.0;
    return out;
}
double Frame::handedness() const {
    const bool odd = from[1] == third_axis(from[0]);
    return (odd ? -1 : 1) * sign[0] * sign[1] * sign[2];
}

namespace {

std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t cell_hash(Cell c) {
    return mix64(mix64(std::uint64_t(std::uint32_t(c.x)) << 32 | std::uint32_t(c.z)) + std::uint32_t(c.y));
}

// Every third bit from the low 21.
std::uint64_t spread3(std::uint64_t v) {
    v &= 0x1fffff;
    v = (v | v << 32) & 0x1f00000000ffffu;
    v = (v | v << 16) & 0x1f0000ff0000ffu;
    v = (v | v << 8) & 0x100f00f00f00f00fu;
    v = (v | v << 4) & 0x10c30c30c30c30c3u;
    return (v | v << 2) & 0x1249249249249249u;
}
std::uint64_t morton(Cell brick) {
    return spread3(std::uint32_t(brick.x)) | spread3(std::uint32_t(brick.z)) << 1 |
           spread3(std::uint32_t(brick.y)) << 2;
}

Cell brick_cell(Cell c) { return {c.x >> 2, c.y >> 2, c.z >> 2}; }

constexpr std::size_t kRun = 1 << 14;     // blocks or bricks, for threads
constexpr std::int64_t kReach = 1 << 22;  // cells; bricks have 21 bits an axis

// The coordinates that blocks have on an axis, and others with smaller gaps.
void shrink_gaps(std::span<const StructureBlock> blocks, Frame& frame) {
    for (int axis = 0; axis < 3; axis++) {
        std::vector<std::int32_t>& known = frame.known[axis];
        for (const StructureBlock& b : blocks)
            known.push_back(axis == 0 ? b.cell.x : axis == 1 ? b.cell.y : b.cell.z);
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        frame.packed[axis].resize(known.size());
        int at = 0;
        for (std::size_t i = 0; i < known.size(); i++) {
            if (i) at += std::int64_t(known[i]) - known[i - 1] == 1 ? 1 : 2;
            frame.packed[axis][i] = at;
        }
    }
}

// Of the eight frames with this up, the one whose picture of the structure has the least hash. Copies of a
// structure give the same eight pictures. A tie means that two pictures are the same.
Frame choose_frame(std::span<const StructureBlock> blocks, Axis up, std::span<const StructureLoad> loads,
                   JobSystem* jobs) {
    const int up_axis = int(up) / 2, up_sign = int(up) & 1 ? -1 : 1;
    const int a = next_axis(up_axis), b = third_axis(up_axis);
    const auto bounds = [&](auto&& cell_at, Cell& low, Cell& high) {
        low = high = cell_at(blocks[0].cell);
        for (const StructureBlock& block : blocks) {
            const Cell c = cell_at(block.cell);
            low = {c.x < low.x ? c.x : low.x, c.y < low.y ? c.y : low.y, c.z < low.z ? c.z : low.z};
            high = {c.x > high.x ? c.x : high.x, c.y > high.y ? c.y : high.y, c.z > high.z ? c.z : high.z};
        }
    };
    Cell low, high;
    bounds([](Cell c) { return c; }, low, high);
    const auto far = [](int p, int q) {
        return std::int64_t(q) - p > kReach || p < -(1 << 28) || q > 1 << 28;
    };
    Frame gaps;
    if (far(low.x, high.x) || far(low.y, high.y) || far(low.z, high.z)) {
        shrink_gaps(blocks, gaps);
        bounds([&](Cell c) { return gaps.near(c); }, low, high);
    }
    Frame frames[8];
    std::uint64_t hash[8] = {};
    for (int k = 0; k < 8; k++) {
        Frame& f = frames[k];
        f.from[0] = k & 1 ? b : a;
        f.from[1] = up_axis;
        f.from[2] = k & 1 ? a : b;
        f.sign[0] = k & 2 ? -1 : 1;
        f.sign[1] = up_sign;
        f.sign[2] = k & 4 ? -1 : 1;
        const Cell p = f.turned(low), q = f.turned(high);
        f.offset = {-(p.x < q.x ? p.x : q.x), -(p.y < q.y ? p.y : q.y), -(p.z < q.z ? p.z : q.z)};
    }
    std::vector<std::array<std::uint64_t, 8>> sums((blocks.size() + kRun - 1) / kRun);
    in_parallel(jobs, sums.size(), [&](std::size_t run) {
        std::array<std::uint64_t, 8>& sum = sums[run] = {};
        for (std::size_t i = run * kRun; i < blocks.size() && i < (run + 1) * kRun; i++) {
            const StructureBlock& block = blocks[i];
            const std::uint64_t what = mix64(bits_of(block.mass) + (std::uint64_t(block.material) << 1) +
                                             (block.support ? 0x9E3779B97F4A7C15u : 0));
            const Cell cell = gaps.near(block.cell);
            for (std::size_t k = 0; k < 8; k++) sum[k] += mix64(cell_hash(frames[k].turned(cell)) ^ what);
        }
    });
    for (const auto& sum : sums)
        for (std::size_t k = 0; k < 8; k++) hash[k] += sum[k];
    for (const StructureLoad& load : loads)
        for (int k = 0; k < 8; k++) {
            const DVec3 f = frames[k].inner(load.force);
            hash[k] += mix64(cell_hash(frames[k].turned(gaps.near(load.cell))) ^
                             mix64(bits_of(f.x) + mix64(bits_of(f.y) + mix64(bits_of(f.z)))));
        }
    int best = 0;
    for (int k = 1; k < 8; k++)
        if (hash[k] < hash[best]) best = k;
    Frame frame = frames[best];
    for (int i = 0; i < 3; i++) {
        frame.known[i].swap(gaps.known[i]);
        frame.packed[i].swap(gaps.packed[i]);
    }
    return frame;
}

}  // namespace

void Lattice::insert(std::uint32_t brick) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = cell_hash(bricks[brick].coord) & mask;
    while (table_[at]) at = (at + 1) & mask;
    table_[at] = brick + 1;
}

// The empty brick when there is none.
std::uint32_t Lattice::lookup(Cell coord) const {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = cell_hash(coord) & mask; table_[at]; at = (at + 1) & mask)
        if (bricks[table_[at] - 1].coord == coord) return table_[at] - 1;
    return std::uint32_t(bricks.size() - 1);
}

void Lattice::set_blocks(std::span<const StructureBlock> blocks, Axis up,
                         std::span<const StructureLoad> loads, JobSystem* jobs) {
    bricks.clear();
    table_.clear();
    mass.clear();
    kind.clear();
    support.clear();
    if (!blocks.empty()) {
        frame = choose_frame(blocks, up, loads, jobs);
        struct Run {
            std::uint64_t key;
            std::uint32_t block;
        };
        std::vector<Run> order(blocks.size());
        in_parallel(jobs, (blocks.size() + kRun - 1) / kRun, [&](std::size_t run) {
            for (std::size_t i = run * kRun; i < blocks.size() && i < (run + 1) * kRun; i++)
                order[i] = {morton(brick_cell(frame.inner(blocks[i].cell))), std::uint32_t(i)};
        });
        std::sort(order.begin(), order.end(), [](const Run& a, const Run& b) { return a.key < b.key; });
        const auto is_first = [&](std::size_t i) { return i == 0 || order[i].key != order[i - 1].key; };
        std::size_t count = 1;  // the empty one
        for (std::size_t i = 0; i < order.size(); i++) count += is_first(i);
        bricks.reserve(count);
        for (std::size_t i = 0; i < order.size(); i++) {
            if (!is_first(i)) continue;
            Brick b;
            b.base = std::uint32_t(i);
            for (Word& w : b.bond) w = ~Word(0);
            bricks.push_back(b);
        }
        mass.resize(blocks.size());
        kind.resize(blocks.size());
        support.resize(blocks.size());
        constexpr std::size_t kBricks = kRun / 16;
        in_parallel(jobs, (bricks.size() + kBricks - 1) / kBricks, [&](std::size_t run) {
            for (std::size_t i = run * kBricks; i < bricks.size() && i < (run + 1) * kBricks; i++) {
                Brick& b = bricks[i];
                const std::size_t end = i + 1 < bricks.size() ? bricks[i + 1].base : order.size();
                b.coord = brick_cell(frame.inner(blocks[order[b.base].block].cell));
                for (std::size_t at = b.base; at < end; at++)
                    b.slots |= Word(1) << bit_of(frame.inner(blocks[order[at].block].cell));
                b.present = b.slots;
                for (std::size_t at = b.base; at < end; at++) {
                    const StructureBlock& block = blocks[order[at].block];
                    const std::uint32_t s = b.slot(bit_of(frame.inner(block.cell)));
                    mass[s] = block.mass;
                    kind[s] = block.material;
                    support[s] = block.support;
                }
            }
        });
    }
    bricks.push_back({});  // the empty one
    make_table();
}

void Lattice::make_table() {
    std::size_t size = 16;
    while (size < 2 * bricks.size()) size *= 2;
    table_.assign(size, 0);
    for (std::uint32_t i = 0; i + 1 < bricks.size(); i++) insert(i);
    for (std::uint32_t i = 0; i < bricks.size(); i++) {
        Brick& b = bricks[i];
        static constexpr Cell kStep[6] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                          {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
        for (int k = 0; k < 6; k++)
            b.nb[k] = i + 1 < bricks.size() ? lookup(b.coord + kStep[k]) : std::uint32_t(bricks.size() - 1);
    }
}

bool Lattice::make_room(Cell inner) {
    const auto far = [](int v) { return v <= -(kReach / 2) || v >= kReach / 2; };
    if (!frame.known[0].empty() || far(inner.x) || far(inner.y) || far(inner.z)) return false;
    const Cell coord = brick_cell(inner);
    std::uint32_t i = lookup(coord);
    if (i + 1 == bricks.size()) {
        Brick b;
        b.coord = coord;
        for (Word& w : b.bond) w = ~Word(0);
        i = 0;
        const std::uint64_t key = morton(coord);
        while (i + 1 < bricks.size() && morton(bricks[i].coord) < key) i++;
        bricks.insert(bricks.begin() + std::ptrdiff_t(i), b);
        make_table();
    }
    Brick& b = bricks[i];
    const std::uint32_t base = std::uint32_t(mass.size());
    mass.resize(base + 64);
    kind.resize(base + 64);
    support.resize(base + 64);
    for (Word w = b.slots; w; w &= w - 1) {
        const int bit = std::countr_zero(w);
        const std::uint32_t from = b.slot(bit), to = base + std::uint32_t(bit);
        mass[to] = mass[from];
        kind[to] = kind[from];
        support[to] = support[from];
    }
    b.slots = ~Word(0);
    b.base = base;
    return true;
}

void Lattice::set_supports(bool dry_ground) {
    for (std::uint32_t i = 0; i + 1 < bricks.size(); i++) {
        Brick& b = bricks[i];
        b.fixed = b.ground = 0;
        b.free = b.present;
        for (Word w = b.present; w; w &= w - 1) {
            const int bit = std::countr_zero(w);
            if (!support[b.slot(bit)]) continue;
            const Brick& below = behind_inside(1, bit) ? b : bricks[b.nb[3]];
            const bool on_block = below.present >> behind_bit(1, bit) & 1;
            if (dry_ground && !on_block) {
                b.ground |= Word(1) << bit;
            } else {
                b.fixed |= Word(1) << bit;
                b.free &= ~(Word(1) << bit);
            }
        }
    }
}

std::uint32_t Lattice::brick_at(Cell c) const { return lookup(brick_cell(c)); }

bool Lattice::find(Cell c, std::uint32_t& brick, int& bit) const {
    if (table_.empty()) return false;
    brick = lookup(brick_cell(c));
    bit = bit_of(c);
    return bricks[brick].exists() >> bit & 1;
}

std::uint32_t Lattice::node_of(const Brick& b, int bit) const {
    const Word below = (Word(1) << bit) - 1;
    return kRed >> bit & 1 ? b.red + std::uint32_t(std::popcount(b.node & kRed & below))
                           : b.black + std::uint32_t(std::popcount(b.node & ~kRed & below));
}

std::uint32_t Lattice::end_of(const Brick& b, int bit) const {
    return b.free >> bit & 1 ? node_of(b, bit) : kFixedEnd | b.slot(bit);
}

Word Lattice::bonds(const Brick& b, int axis) const {
    const Word e = b.exists();
    return e & b.bond[axis] & seen_ahead(axis, e, bricks[b.nb[2 * axis]].exists());
}

void Lattice::index(std::span<const double> stiffness, std::span<const StructurePin> outer_pins,
                    JobSystem* jobs) {
    stiffness_of.assign(stiffness.begin(), stiffness.end());
    uniform = true;
    for (const double s : stiffness)
        if (s != 1) uniform = false;
    nodes = reds = 0;
    for (Brick& b : bricks) {
        b.node = b.free ? b.free | (b.slots & ~b.present) : 0;
        nodes += std::uint32_t(std::popcount(b.node));
        reds += std::uint32_t(std::popcount(b.node & kRed));
    }
    std::uint32_t red = 0, black = reds;
    for (Brick& b : bricks) {
        b.red = red;
        b.black = black;
        red += std::uint32_t(std::popcount(b.node & kRed));
        black += std::uint32_t(std::popcount(b.node & ~kRed));
    }
    slot_of.resize(nodes);
    neighbour.resize(std::size_t(nodes) * 6);
    node_class.resize(nodes);
    cell.resize(nodes);

    // Each run of bricks numbers its own keys at first.
    constexpr std::size_t kBricks = kRun / 16;
    std::vector<Keys> found((bricks.size() + kBricks - 1) / kBricks);
    const auto run_end = [&](std::size_t run) {
        const std::size_t end = (run + 1) * kBricks;
        return end < bricks.size() ? end : bricks.size() - 1;
    };
    in_parallel(jobs, found.size(), [&](std::size_t run) {
        for (std::size_t i = run * kBricks; i < run_end(run); i++) {
            const Brick& b = bricks[i];
            if (!b.node) continue;
            Word linked[6];
            linked_sides(b, linked);
            for (Word w = b.node; w; w &= w - 1) {
                const int bit = std::countr_zero(w);
                const std::uint32_t n = node_of(b, bit);
                slot_of[n] = b.slot(bit);
                cell[n] = cell_of(b.coord, bit);
                link_node(b, bit, linked, found[run]);
            }
        }
    });
    keys_ = Keys(2 * kSpareClasses);
    std::vector<std::vector<std::uint32_t>> number(found.size());
    for (std::size_t run = 0; run < found.size(); run++)
        for (const Key& key : found[run].list) number[run].push_back(keys_.number(key));
    in_parallel(jobs, found.size(), [&](std::size_t run) {
        const Brick &first = bricks[run * kBricks], &end = bricks[run_end(run)];
        for (const auto& [from, to] : {std::pair{first.red, end.red}, {first.black, end.black}})
            for (std::uint32_t n = from; n < to; n++) node_class[n] = number[run][node_class[n]];
    });
    classes.clear();
    classes.reserve(keys_.list.size() + outer_pins.size() + kSpareClasses);
    for (const Key& key : keys_.list) classes.push_back(make_class(key));

    pins.clear();
    for (const StructurePin& pin : outer_pins) {
        std::uint32_t brick;
        int bit;
        if (!find(frame.inner(pin.cell), brick, bit) || !(bricks[brick].free >> bit & 1)) continue;
        Pin p;
        p.node = node_of(bricks[brick], bit);
        const Cell c = cell[p.node];
        const DVec3 at = frame.inner(pin.at);
        const int whole[3] = {c.x, c.y, c.z};
        for (int a = 0; a < 3; a++) {
            p.at[a] = whole[a] + 0.5 + at[a];
            p.stiffness[a] = pin.hold[frame.from[a]] ? kPinStiffness : 0;
        }
        pins.push_back(p);
        Class own = classes[node_class[p.node]];
        if (own.pinned == p.node) continue;
        own.pinned = p.node;
        node_class[p.node] = std::uint32_t(classes.size());
        classes.push_back(own);
    }
}

void Lattice::linked_sides(const Brick& b, Word (&linked)[6]) const {
    for (int a = 0; a < 3; a++) {
        linked[2 * a] = bonds(b, a);
        linked[2 * a + 1] = b.exists() & seen_behind(a, bonds(b, a), bonds(bricks[b.nb[2 * a + 1]], a));
    }
}

void Lattice::link_node(const Brick& b, int bit, const Word (&linked)[6], Keys& keys) {
    const std::uint32_t n = node_of(b, bit);
    const bool alive = b.free >> bit & 1;
    Key key;
    key.own = alive ? kind[slot_of[n]] : 0xffff;
    for (int k = 0; k < 6; k++) {
        std::uint32_t to = nodes;
        if (alive && linked[k] >> bit & 1) {
            const int axis = k / 2;
            const bool ahead = !(k & 1);
            const bool inside = ahead ? ahead_inside(axis, bit) : behind_inside(axis, bit);
            const Brick& other = inside ? b : bricks[b.nb[k]];
            const int at = ahead ? ahead_bit(axis, bit) : behind_bit(axis, bit);
            const bool moves = other.free >> at & 1;
            if (moves) to = node_of(other, at);
            key.side[k] = std::uint16_t(2 + 2 * kind[other.slot(at)] + (moves ? 0 : 1));
        }
        neighbour[std::size_t(n) * 6 + std::size_t(k)] = to;
    }
    if (b.ground >> bit & 1) key.side[3] = 1;
    node_class[n] = keys.number(key);
}

void Lattice::relink(std::uint32_t brick, int bit) {
    Word linked[6];
    linked_sides(bricks[brick], linked);
    link_node(bricks[brick], bit, linked, keys_);
    while (classes.size() < keys_.list.size()) classes.push_back(make_class(keys_.list[classes.size()]));
}

std::uint32_t Lattice::Keys::number(const Key& key) {
    const auto hash_of = [](const Key& k) {
        std::uint64_t h[2] = {};
        std::memcpy(h, &k, sizeof k);
        return mix64(h[0] + mix64(h[1] + 0x9E3779B97F4A7C15u));
    };
    std::size_t mask = table.size() - 1, at = hash_of(key) & mask;
    for (; table[at]; at = (at + 1) & mask)
        if (list[table[at] - 1] == key) return table[at] - 1;
    list.push_back(key);
    table[at] = std::uint32_t(list.size());
    if (list.size() * 2 > table.size()) {
        std::vector<std::uint32_t> grown(table.size() * 2, 0);
        mask = grown.size() - 1;
        for (std::uint32_t k = 0; k < list.size(); k++) {
            std::size_t to = hash_of(list[k]) & mask;
            while (grown[to]) to = (to + 1) & mask;
            grown[to] = k + 1;
        }
        table.swap(grown);
    }
    return std::uint32_t(list.size() - 1);
}

Lattice::Class Lattice::make_class(const Key& key) const {
    const auto stiff = [&](std::size_t k) { return stiffness_of[k < stiffness_of.size() ? k : 0]; };
    Class c{};
    c.pinned = kGroundEnd;
    for (int k = 0; k < 6; k++) {
        const int side = key.side[k];
        double s = 0;
        if (side == 1) s = 2 * stiff(key.own);
        if (side > 1) s = series(stiff(key.own), stiff(std::size_t(side - 2) / 2));
        c.all_scale[k] = s;
        c.scale[k] = side > 1 && !(side & 1) ? float(s) : 0;
    }
    return c;
}

std::size_t Lattice::bytes() const {
    const auto of = [](const auto& v) { return v.capacity() * sizeof v[0]; };
    return of(bricks) + of(mass) + of(kind) + of(support) + of(slot_of) + of(neighbour) + of(node_class) +
           of(cell) + of(classes) + of(pins) + of(table_) + of(keys_.list) + of(keys_.table);
}

}  // namespace talus::physical
