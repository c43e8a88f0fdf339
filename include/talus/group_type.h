// group_type.h - kinds of groups: what a host may decide about its own.
//
// Layer: world. A type is named, so that saves know it, and is added to a level before groups of it are made
// or loaded. Hooks run inside Level::tick() (or the call that caused them), on the caller's thread, in the
// order of group ids. A hook may call the level, also to remove its own group; a view is then no longer
// valid. Determinism: as good as the hooks'. A replay needs the same types. Example:
// examples/own_group_type.cpp. Tests: tests/world/group_type_test.cpp
#pragma once

#include "talus/level.h"

#include <span>
#include <string_view>

namespace talus {

/// What a part that came off becomes; filled in with the usual before new_piece() sees it.
struct PieceSettings {
    GroupSettings group;     ///< pose, motion, type and mode of the group it came from
    bool slippery = false;   ///< for its first ticks, to slide off what it broke from
    bool is_debris = false;  ///< crumbles when long asleep
};

class GroupType {
 public:
    virtual ~GroupType() = default;
    virtual std::string_view name() const = 0;

    /// Judged by the structural solver and worn by damage?
    virtual bool bears_load(const GroupView& group) const { return group.bears_load; }
    /// Strength of a block, for its bonds and against hits; stone is 1. Not positive: the usual.
    virtual float bond_strength(const GroupView& group, Cell cell, float usual) const {
        (void)group, (void)cell;
        return usual;
    }
    /// A part is about to come off: what should it be? `blocks` are in the frame of the group, of which a
    /// view of no id is a structure of the terrain.
    virtual void new_piece(const GroupView& group, const Grid& blocks, PieceSettings& piece) {
        (void)group, (void)blocks, (void)piece;
    }
    /// Bonds broke in a collapse. @return true: shown and heard already; false: dust and sounds as usual
    virtual bool on_bonds_broken(Level& level, const GroupView& group, std::span<const Bond> bonds) {
        (void)level, (void)group, (void)bonds;
        return false;
    }
    /// Wear of a block that a blast reached but did not break. `share` of what would break it.
    virtual float blast_wear(const GroupView& group, Cell cell, float share, float usual) const {
        (void)group, (void)cell, (void)share;
        return usual;
    }
    /// Every tick, once its shape is that of its blocks.
    virtual void on_pose(Level& level, GroupId group, const Pose& pose) {
        (void)level, (void)group, (void)pose;
    }
    /// Every tick while awake.
    virtual void on_awake(Level& level, GroupId group) { (void)level, (void)group; }
    /// Every tick, after broken blocks left and what fell came off.
    virtual void on_settle(Level& level, GroupId group) { (void)level, (void)group; }
    virtual void on_end_tick(Level& level, GroupId group) { (void)level, (void)group; }
    /// About to become terrain (Level::settle). @return false to refuse
    virtual bool may_settle(Level& level, GroupId group) {
        (void)level, (void)group;
        return true;
    }
    /// No solid is left. @return true: dealt with, what is left goes without drops; false: it drops
    virtual bool no_solids_left(Level& level, GroupId group) {
        (void)level, (void)group;
        return false;
    }
};

}  // namespace talus
