// physical_lattice.h - rigid blocks joined at faces: who is whose neighbour, and how stiff.
//
// Layer: structure (internal). A bond between face neighbours is six springs at the middle of their face:
// along the normal, two across, twist and two bends, of a beam with the section of a block (lengths in
// cells):
//
//     EA / L = 1    kGA / L = 5/6 / (2 (1 + nu))    GJ / L = 0.14058 / (2 (1 + nu))    EI / L = 1/12
//
// all times one factor for the material, that of two half blocks in series. Poisson's ratio is 0.2 for all:
// one factor a bond instead of four numbers, and forces depend on it little.
// Source: Timoshenko, Strength of Materials I (shear factor 5/6); Timoshenko and Goodier, Theory of
// Elasticity, art. 109 (torsion of a square bar, 0.1406 and 0.208).
//
// Blocks lie in bricks of 4^3, one 64-bit word each for what exists, in Morton order, so that the aggregates
// of every level of the multigrid are runs of the order. Unknowns (*nodes*) are the blocks that move,
// numbered red (x + y + z even) before black, so that a half sweep reads one part and writes the other. A
// block that was taken out keeps its number as a node without bonds, so that edits renumber nothing.
// Frame: *inner* axes, y up, the caller's turned and moved so that every copy of a structure, turned,
// mirrored or moved, has the same inner cells, and so the same bits in every result. Tests:
// tests/structure/physical_*_test.cpp
#pragma once

#include "talus/structure.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace talus::physical {

using Word = std::uint64_t;

constexpr double kPoisson = 0.2;
constexpr double kAxial = 1;
constexpr double kShear = 5.0 / 6 / (2 * (1 + kPoisson));
constexpr double kBend = 1.0 / 12;
constexpr double kTwist = 0.1405770 / (2 * (1 + kPoisson));

/// Floats for each node: three displacements, a pad, three rotations, a pad.
constexpr std::uint32_t kStride = 8;

constexpr int next_axis(int a) { return a == 2 ? 0 : a + 1; }
constexpr int third_axis(int a) { return a == 0 ? 2 : a - 1; }

/// Runs f(i) for i < count, on the threads of `jobs` if given.
template <class F>
void in_parallel(JobSystem* jobs, std::size_t count, F&& f) {
    if (!jobs || count < 2) {
        for (std::size_t i = 0; i < count; i++) f(i);
        return;
    }
    jobs->parallel_for(
        count, [](void* context, std::size_t i) { (*static_cast<F*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&f)));
}

/// For vectors whose elements are left as they are when the vector grows, so that the threads that work on
/// them touch them first: zeroing a page is a good part of what a large field costs.
template <class T>
struct Unset : std::allocator<T> {
    Unset() = default;
    template <class U>
    Unset(const Unset<U>&) {}
    template <class U>
    struct rebind {
        using other = Unset<U>;
    };
    template <class U, class... Args>
    void construct(U* at, Args&&... args) {
        if constexpr (sizeof...(Args) == 0)
            ::new (static_cast<void*>(at)) U;
        else
            ::new (static_cast<void*>(at)) U(static_cast<Args&&>(args)...);
    }
};
/// All zero, of a size.
template <class V>
void clear_field(JobSystem* jobs, V& v, std::size_t size) {
    constexpr std::size_t kRun = 1 << 14;
    v.clear();
    v.resize(size);
    in_parallel(jobs, (size + kRun - 1) / kRun, [&](std::size_t run) {
        const std::size_t end = (run + 1) * kRun < size ? (run + 1) * kRun : size;
        for (std::size_t i = run * kRun; i < end; i++) v[i] = {};
    });
}

/// From the caller's axes to inner ones and back. Inner axis i is the caller's axis from[i] times sign[i].
struct Frame {
    int from[3] = {0, 1, 2};
    int sign[3] = {1, 1, 1};
    Cell offset;

    /// When blocks lie farther apart than bricks can number: the coordinates there are, sorted, and what they
    /// count as (neighbours stay neighbours, gaps shrink). Empty otherwise.
    std::vector<std::int32_t> known[3], packed[3];

    Cell inner(Cell c) const { return turned(near(c)); }
    Cell outer(Cell c) const;
    Cell near(Cell c) const;    // gaps shrunk
    Cell turned(Cell c) const;  // then turned and moved
    DVec3 inner(DVec3 v) const;
    DVec3 outer(DVec3 v) const;
    /// A moment changes its sign in a mirror.
    double handedness() const;
};

// Bit x + 4 z + 16 y of a word.
constexpr int bit_of(Cell c) { return (c.x & 3) | (c.z & 3) << 2 | (c.y & 3) << 4; }
constexpr Cell cell_of(Cell brick, int bit) {
    return {brick.x * 4 + (bit & 3), brick.y * 4 + (bit >> 4), brick.z * 4 + ((bit >> 2) & 3)};
}
constexpr Word kRed = 0x5A5AA5A55A5AA5A5u;  // x + y + z even

/// Where a bond ends: a node, or a block that does not move, or the ground.
constexpr std::uint32_t kFixedEnd = 0x80000000u;
constexpr std::uint32_t kGroundEnd = 0xffffffffu;

struct Brick {
    Cell coord;
    Word slots = 0;            // has a place in the per-block arrays: what exists or once did
    Word present = 0;          // is in the input
    Word free = 0;             // moves
    Word fixed = 0;            // does not
    Word ground = 0;           // free, with a bond to the ground below
    Word node = 0;             // has a number among the nodes: moves, or did and may come back
    Word bond[3] = {};         // to the neighbour at +x, +y, +z; whether both ends are there is not said
    std::uint32_t nb[6] = {};  // +x -x +y -y +z -z; the last brick, which is empty, where there is none
    std::uint32_t base = 0;    // of the per-block arrays
    std::uint32_t red = 0, black = 0;  // first node of each colour

    Word exists() const { return free | fixed; }
    std::uint32_t slot(int bit) const {
        return base + std::uint32_t(std::popcount(slots & ((Word(1) << bit) - 1)));
    }
};

struct Place {
    std::uint32_t brick;
    int bit;
};

/// A bond with what is needed to work with it. `low` is the end at the lesser coordinate along `axis`.
struct Link {
    int axis;
    std::uint32_t low, high;            // nodes, or with kFixedEnd the slot, or kGroundEnd
    std::uint32_t low_slot, high_slot;  // for kGroundEnd: of the block above
    std::uint32_t brick;                // of the low end (of the block above for the ground)
    int bit;
    double scale;
};

/// A pin holds a point by springs this much stiffer than a block: against it a lattice hardly gives.
constexpr double kPinStiffness = 100;

struct Pin {
    std::uint32_t node;
    double at[3];  // inner coordinates of the point, cells
    double stiffness[3];
};

class Lattice {
 public:
    Frame frame;
    std::vector<Brick> bricks;        // in Morton order, then the empty one
    std::vector<double> mass;         // for each slot, kg
    std::vector<std::uint16_t> kind;  // for each slot, material
    std::uint32_t nodes = 0, reds = 0;
    std::vector<std::uint32_t> slot_of;     // for each node
    std::vector<std::uint32_t> neighbour;   // 6 for each node; `nodes` where none moves there
    std::vector<std::uint32_t> node_class;  // for each node
    std::vector<Cell> cell;                 // for each node, inner
    struct Class {
        float scale[8];                     // of the bonds at +x -x +y -y +z -z, 0 without a moving neighbour
        double all_scale[6];                // the same, fixed neighbours and the ground included
        std::uint32_t pinned = kGroundEnd;  // the node with pins that has this class alone
    };
    std::vector<Class> classes;
    std::vector<Pin> pins;
    static constexpr std::size_t kSpareClasses = 256;  // room for kinds of neighbourhood that edits make
    bool uniform = true;                               // every bond to a moving neighbour has factor 1

    /// Takes blocks over and chooses the frame. Broken bonds are whole again.
    void set_blocks(std::span<const StructureBlock> blocks, Axis up, std::span<const StructureLoad> loads,
                    JobSystem* jobs);
    /// Which blocks move: all but supports, or with `dry_ground` all, supports on a bond to the ground where
    /// no block is under them.
    void set_supports(bool dry_ground);
    /// Numbers the nodes of what is free and finds neighbours and factors. `stiffness`: for each material, of
    /// the stiffest 1.
    void index(std::span<const double> stiffness, std::span<const StructurePin> outer_pins, JobSystem* jobs);
    /// Bonds of a node as they are now, after an edit; classes may get one more. Pre: no pins.
    void relink(std::uint32_t brick, int bit);
    /// Room for a block in a place that had none: its brick gets room for all 64. Nodes are numbered anew
    /// after that. @return false when there can be none (too far away)
    bool make_room(Cell inner);

    /// The place at +x -x +y -y +z -z of one; in the empty brick where there is none.
    Place beside(Place from, int side) const;
    /// The brick of a cell; the empty one when there is none.
    std::uint32_t brick_at(Cell inner) const;
    /// Whether a block that has not fallen is there.
    bool find(Cell inner, std::uint32_t& brick, int& bit) const;
    /// kFixedEnd with the slot for what is fixed. Pre: exists.
    std::uint32_t end_of(const Brick& b, int bit) const;
    std::uint32_t node_of(const Brick& b, int bit) const;
    /// Bond between existing ends, as bits at the low end.
    Word bonds(const Brick& b, int axis) const;
    template <class F>
    void for_each_link(F&& f) const;
    /// Those whose low end, or the block on the ground, is in a brick.
    template <class F>
    void for_each_link_in(std::uint32_t brick, F&& f) const;
    /// The bonds of one existing block, in both directions: f(link, brick of the other end, its bit). The
    /// bond to the ground is not among them.
    template <class F>
    void for_each_side(std::uint32_t brick, int bit, F&& f) const;
    std::size_t bytes() const;

    std::vector<std::uint8_t> support;  // for each slot
    std::vector<double> stiffness_of;   // for each material, as given to index()
    double stiffness_at(std::uint32_t slot) const {
        const std::size_t k = kind[slot];
        return stiffness_of[k < stiffness_of.size() ? k : 0];
    }

    /// Two half blocks, one behind the other; a float, since that is what fields are multiplied with.
    static double series(double a, double b) { return double(float(2 * a * b / (a + b))); }

 private:
    // A class is the materials of a block and of what it is bonded to: 0 nothing, else 2 + twice the
    // material, one more when that does not move; 1 the ground. Few in any build.
    struct Key {
        std::uint16_t own = 0, side[6] = {};
        bool operator==(const Key&) const = default;
    };
    struct Keys {  // numbered in the order of first sight
        std::vector<Key> list;
        std::vector<std::uint32_t> table;  // open addressing, key + 1
        explicit Keys(std::size_t room = 32) : table(2 * room, 0) { list.reserve(room); }
        std::uint32_t number(const Key& key);
    };
    Keys keys_;
    Class make_class(const Key& key) const;
    void link_node(const Brick& b, int bit, const Word (&linked)[6], Keys& keys);
    void linked_sides(const Brick& b, Word (&linked)[6]) const;

    std::vector<std::uint32_t> table_;  // open addressing, brick + 1
    void make_table();
    void insert(std::uint32_t brick);
    std::uint32_t lookup(Cell coord) const;
};

// Steps along an axis, inside a brick or over into the next.
constexpr Word kLast[3] = {0x8888888888888888u, 0xFFFF000000000000u, 0xF000F000F000F000u};
constexpr Word kFirst[3] = {0x1111111111111111u, 0x000000000000FFFFu, 0x000F000F000F000Fu};
constexpr int kShift[3] = {1, 16, 4};
/// At each bit, the bit of the neighbour at +axis; `next` of the brick there.
constexpr Word seen_ahead(int axis, Word own, Word next) {
    const int last = 3 * kShift[axis];
    return ((own & ~kFirst[axis]) >> kShift[axis]) | ((next & kFirst[axis]) << last);
}
/// At each bit, the bit of the neighbour at -axis.
constexpr Word seen_behind(int axis, Word own, Word previous) {
    const int last = 3 * kShift[axis];
    return ((own & ~kLast[axis]) << kShift[axis]) | ((previous & kLast[axis]) >> last);
}
/// The cell at +axis of a bit: same brick or the next.
constexpr bool ahead_inside(int axis, int bit) { return !(kLast[axis] >> bit & 1); }
constexpr int ahead_bit(int axis, int bit) {
    return ahead_inside(axis, bit) ? bit + kShift[axis] : bit - 3 * kShift[axis];
}
constexpr bool behind_inside(int axis, int bit) { return !(kFirst[axis] >> bit & 1); }
constexpr int behind_bit(int axis, int bit) {
    return behind_inside(axis, bit) ? bit - kShift[axis] : bit + 3 * kShift[axis];
}

inline Place Lattice::beside(Place from, int side) const {
    const int axis = side / 2;
    const bool ahead = !(side & 1);
    const bool inside = ahead ? ahead_inside(axis, from.bit) : behind_inside(axis, from.bit);
    return {inside ? from.brick : bricks[from.brick].nb[side],
            ahead ? ahead_bit(axis, from.bit) : behind_bit(axis, from.bit)};
}

template <class F>
void Lattice::for_each_link_in(std::uint32_t i, F&& f) const {
    const Brick& b = bricks[i];
    if (!b.exists()) return;
    for (int axis = 0; axis < 3; axis++)
        for (Word w = bonds(b, axis); w; w &= w - 1) {
            const int bit = std::countr_zero(w), to = ahead_bit(axis, bit);
            const Brick& other = ahead_inside(axis, bit) ? b : bricks[b.nb[2 * axis]];
            Link link{axis, end_of(b, bit), end_of(other, to), b.slot(bit), other.slot(to), i, bit, 0};
            if (link.low & link.high & kFixedEnd) continue;
            link.scale = series(stiffness_at(link.low_slot), stiffness_at(link.high_slot));
            f(link);
        }
    for (Word w = b.ground & b.free; w; w &= w - 1) {
        const int bit = std::countr_zero(w);
        const std::uint32_t slot = b.slot(bit);
        f(Link{1, kGroundEnd, node_of(b, bit), slot, slot, i, bit, 2 * stiffness_at(slot)});
    }
}

template <class F>
void Lattice::for_each_link(F&& f) const {
    for (std::uint32_t i = 0; i + 1 < bricks.size(); i++) for_each_link_in(i, f);
}

template <class F>
void Lattice::for_each_side(std::uint32_t brick, int bit, F&& f) const {
    for (int k = 0; k < 6; k++) {
        const int axis = k / 2;
        const bool ahead = !(k & 1);
        const auto [to, at] = beside({brick, bit}, k);
        const Word whole = ahead ? bricks[brick].bond[axis] >> bit : bricks[to].bond[axis] >> at;
        if (!(whole & bricks[to].exists() >> at & 1)) continue;
        const Brick &low = bricks[ahead ? brick : to], &high = bricks[ahead ? to : brick];
        const int low_bit = ahead ? bit : at, high_bit = ahead ? at : bit;
        Link link{axis,
                  end_of(low, low_bit),
                  end_of(high, high_bit),
                  low.slot(low_bit),
                  high.slot(high_bit),
                  ahead ? brick : to,
                  low_bit,
                  0};
        link.scale = series(stiffness_at(link.low_slot), stiffness_at(link.high_slot));
        f(link, to, at);
    }
}

/// Six numbers of a bond in its own axes: along the normal, across (next axis, third axis), twist, bends.
struct Local6 {
    double v[6];
};
/// How far the high end is moved against the low end, at the middle of the face. Displacements of a node are
/// 8 numbers; null for an end that does not move.
template <class T>
inline Local6 strain(int axis, const T* low, const T* high) {
    static constexpr T kStill[8] = {};
    if (!low) low = kStill;
    if (!high) high = kStill;
    const int b = next_axis(axis), c = third_axis(axis);
    const auto diff = [&](int k) { return double(high[k]) - double(low[k]); };
    const auto sum = [&](int k) { return double(high[k]) + double(low[k]); };
    return {{diff(axis), diff(b) - 0.5 * sum(4 + c), diff(c) + 0.5 * sum(4 + b), diff(4 + axis), diff(4 + b),
             diff(4 + c)}};
}
constexpr double kSpring[6] = {kAxial, kShear, kShear, kTwist, kBend, kBend};

/// Adds what a bond force does to both ends. `out` 8 numbers a node. The force acts on the low end; the high
/// end has the opposite.
inline void add_force(int axis, const Local6& f, double* low, double* high) {
    const int b = next_axis(axis), c = third_axis(axis);
    if (low) {
        low[axis] += f.v[0];
        low[b] += f.v[1];
        low[c] += f.v[2];
        low[4 + axis] += f.v[3];
        low[4 + b] += f.v[4] - 0.5 * f.v[2];
        low[4 + c] += f.v[5] + 0.5 * f.v[1];
    }
    if (high) {
        high[axis] -= f.v[0];
        high[b] -= f.v[1];
        high[c] -= f.v[2];
        high[4 + axis] -= f.v[3];
        high[4 + b] -= f.v[4] + 0.5 * f.v[2];
        high[4 + c] -= f.v[5] - 0.5 * f.v[1];
    }
}

}  // namespace talus::physical
