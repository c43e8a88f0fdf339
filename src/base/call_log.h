// call_log.h - where the calls that change a level are written down as they happen.
//
// Layer: base. Each public call that changes a Space, a Body or a Level begins with one line,
//
//     const Recorded call(log, Call::blast, center, power);
//
// which writes the call and its arguments before anything happens, and keeps quiet about the calls that this
// one makes in turn. Off (null) it costs a test. A new call needs three lines: its name at the end of Call,
// its hook, and its case in world/replay.cpp. Who keeps the bytes: world/recording.cpp. Tests:
// tests/world/recording_test.cpp
#pragma once

#include "base/archive.h"

namespace talus {

/// Numbers of the format (docs/formats/recording.md): append only, never renumber. The comment tells the
/// arguments.
enum class Call : std::uint8_t {
    snapshot = 1,          // the level's snapshot, to the end of the frame
    tick_done,             // answers of the host's terrain, hash, digests
    block_types,           // types that joined the table
    tick,                  //
    set_terrain,           // cell, block
    set_terrain_source,    // is there one?
    terrain_changed,       // box of cells
    add_group,             // grid, settings
    remove_group,          // group
    remove_block,          // group, cell, cause
    place_block,           // group, cell, block
    wear_down,             // group, cell, amount
    carve,                 // box
    carve_sphere,          // centre, radius
    carve_capsule,         // a, b, radius
    blast,                 // centre, power
    check_group_soon,      // group
    space_set_paused,      // yes or no
    space_allow_sleep,     // yes or no
    space_layers,          // layer, layer, yes or no
    space_ground,          // height or none, friction
    space_changed,         // box of cells
    space_add_body,        // shape, settings
    space_remove_body,     // body
    space_step,            // seconds
    body_set_pose,         // body, pose
    body_set_velocity,     // body, velocity
    body_set_spin,         // body, spin
    body_add_force,        // body, force
    body_add_force_at,     // body, force, point
    body_add_torque,       // body, torque
    body_add_impulse,      // body, impulse
    body_add_impulse_at,   // body, impulse, point
    body_set_friction,     // body, friction
    body_set_restitution,  // body, restitution
    body_set_gravity,      // body, factor
    body_set_layer,        // body, layer
    body_set_motion,       // body, motion
    body_activate,         // body
    body_sleep,            // body
    body_set_shape,        // body, shape
    mark_box,              // box of cells, settings
    mark_cells,            // cells, settings
    mark_connected,        // cell, box of cells, most blocks, settings
    add_to_structure,      // structure, box of cells
    unmark_structure,      // structure
    check_structure_soon,  // structure
    set_group_mode,        // group, mode
    set_structure_mode,    // structure, mode
    wear_down_terrain,     // cell, amount
    body_set_continuous,   // body, yes or no
    body_set_damping,      // body, linear, angular, rolling resistance
    space_ask_again,       // body
    break_terrain,         // cell, cause
    physicify,             // cell
    assemble,              // cell, box of cells, most blocks, bears load?
    settle,                // group, settings
    protect,               // box
    unprotect,             // number
    set_debris,            // group, ticks
    change_settings,       // settings
    add_group_type,        // name
    set_blast_targets,     // are there any?
    set_smooth_terrain,    // is there a source?, block
    dig,                   // centre, radius
    fill,                  // centre, radius
    smooth_changed,        // box of samples
    smooth_samples,        // answers of the source
    body_change_blocks,    // body, changes (ids of the level's table)
};

struct CallLog {
    ByteWriter bytes;  ///< of the call that just began
    int depth = 0;     ///< calls under way, one inside the other
    /// Takes `bytes` away.
    void (*began)(CallLog& log) = nullptr;
};

class Recorded {
 public:
    template <class... T>
    Recorded(CallLog* log, Call call, const T&... arguments) : log_(log) {
        if (!log_ || log_->depth++ > 0) return;
        log_->bytes(call, arguments...);
        log_->began(*log_);
    }
    ~Recorded() {
        if (log_) log_->depth--;
    }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;

 private:
    CallLog* log_;
};

}  // namespace talus
