// shape.h - what a BodyShape holds: boxes to collide with, which places are solid, and what it weighs.
//
// Layer: dynamics. Metres, in the shape's frame moved to `reference` (a corner of cells near the middle), so
// that floats stay exact for groups far from their grid's origin.
// Determinism: boxes come in an order fixed by the shape alone; a shape that was edited has the same bits as
// one made anew from the same blocks.
// Tests: tests/dynamics/shape_test.cpp, shape_edit_test.cpp
//
// A piece of blocks that fits into kWholeCells cells is one part, made anew by an edit. A bigger one is cut
// along its grid's bricks, each a part with boxes of its own, under a tree (brick_tree.h): an edit makes
// a brick anew and, for cells on its border, the neighbours whose faces it hid or freed.
//
//     whole                         bricks
//     +--------+                    +---+---+---+     each about its own corner; the tree knows
//     | boxes, |  about reference   | x |   | x |     which are near
//     | bits   |                    +---+---+---+
//     +--------+
//
// One set of merged boxes for all sizes was rejected: an edit could change any of them. Bricks for all sizes
// too: pieces of rubble that lie over a brick's border would have twice the boxes.
#pragma once

#include "dynamics/brick_tree.h"
#include "dynamics/solid_part.h"
#include "mass/group_mass.h"
#include "talus/space.h"

#include <optional>
#include <vector>

namespace talus {

/// A solid block: a full cube or one of the odd types.
struct SolidBlock {
    Cell cell;
    BlockId odd = kAir;  ///< kAir: a full cube
    friend bool operator<(const SolidBlock& a, const SolidBlock& b) { return a.cell < b.cell; }
};

/// The part: all solids about `reference`, none when there are bricks; its bounds and thickness are those of
/// all. A new field is listed in archive.cpp too.
struct BodyShape::Data : SolidPart {
    std::optional<BrickTree> bricks;  ///< of big pieces of blocks; never empty
    DVec3 reference;                  ///< in the shape's frame
    float round_radius = 0;           ///< of a ball or capsule along y; `solids` is then the box around it
    float round_half = 0;             ///< half length of the capsule's core
    double volume = 0;
    MassMoments own, unit;        ///< boxes with their own density; the others at density 1
    std::vector<ShapeBox> given;  ///< boxes a user gave, merged, in the shape's own frame

    // Of shapes made of blocks.
    float cell_size = 0;  ///< 0: made of given boxes
    Cell reference_cell;
    BlockSums sums;
    std::vector<OddType> odd_types;

    static BodyShape shape_of(std::shared_ptr<Data> data) {
        BodyShape shape;
        shape.data_ = std::move(data);
        return shape;
    }
    bool is_round() const { return round_radius > 0; }
    bool only_box() const { return solids.size() == 1; }
    bool has_solids() const { return !solids.empty() || bricks; }
    /// Is this place inside any solid? `p` about the reference.
    bool solid_at(Vec3 p) const;
    /// f(const CollisionBox&) for every solid, and some more, that reaches into these bounds; all about the
    /// reference, in a fixed order.
    template <class F>
    void each_solid_near(Vec3 from, Vec3 to, F&& f) const;

    /// Blocks changed: all of the above follows.
    void change(const BlockTable& table, std::span<const BlockChange> changes);
    /// The solid blocks, sorted, and the way back: with `cell_size`, `sums` and `odd_types` they make the
    /// rest.
    std::vector<SolidBlock> blocks() const;
    void set_blocks(std::span<const SolidBlock> sorted);
};

template <class F>
void BodyShape::Data::each_solid_near(Vec3 from, Vec3 to, F&& f) const {
    auto apart = [&](Vec3 a, Vec3 b) {
        return a.x > to.x || b.x < from.x || a.y > to.y || b.y < from.y || a.z > to.z || b.z < from.z;
    };
    auto each = [&](const SolidPart& part, Vec3 origin) {
        for (std::size_t i = 0; i < part.solids.size(); i++) {
            if (!part.groups.empty() && i % BoxGroup::kSize == 0) {
                const BoxGroup& g = part.groups[i / BoxGroup::kSize];
                if (apart(g.lo + origin, g.hi + origin)) {
                    i += BoxGroup::kSize - 1;
                    continue;
                }
            }
            CollisionBox box = part.solids[i];
            box.center += origin;
            f(box);
        }
    };
    if (!bricks)
        each(*this, {});
    else
        bricks->visit_near(bricks->reference(reference), from, to,
                           [&](const BrickTree::Brick& b, Vec3 origin) {
                               if (!apart(b.part.lo + origin, b.part.hi + origin)) each(b.part, origin);
                               return false;
                           });
}

}  // namespace talus
