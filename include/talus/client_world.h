// client_world.h - a page's copy of the world: what to draw, where, and what a ray or a player meets.
//
// Layer: net. SI units, +Y up. Positions that go in and out are relative to origin(), so that a page may keep
// floats; inside, world positions are double. `now` is any clock in seconds that only goes forward.
// The server is the authority: nothing is simulated here but the page's own player.
//
// Playback. Frames arrive 20 times a second with jitter; the world is shown a little behind the newest one:
//
//     ticks   T-2      T-1       T       T+1 (newest)
//              |--------|----x---|--------|
//                            ^ shown        a frame's changes of blocks and groups take effect when playback
//                                           enters the interval that ends with its tick
//
// so a piece that broke off in tick T is its own thing from T-1 on, starting from the pose it had there, and
// does not jump. How far behind follows from the latest arrivals of the last seconds; the clock is steered,
// never set (but after a pause of over a second). Positions are those of a pivot (the centre of mass), on a
// parabola through three ticks (exact in free flight) or a line (where something hit); rotations on the great
// arc. A group whose pose stays the same costs nothing. Determinism: the same messages at the same times give
// the same bits. Tests: tests/net/
#pragma once

#include "talus/grid.h"
#include "talus/mesh.h"
#include "talus/protocol.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace talus {

class ClientWorld {
 public:
    ClientWorld();
    ~ClientWorld();
    ClientWorld(const ClientWorld&) = delete;
    ClientWorld& operator=(const ClientWorld&) = delete;

    /// A new connection: forgets everything, numbers of chunks too.
    void reset();
    /// One message. On an error the world stays as it was, but the connection has to start again (reset()).
    /// @return nullopt when all is well
    std::optional<Error> receive(std::span<const std::uint8_t> message, double now);

    struct MeshChange {
        std::uint32_t id = 0;      ///< chunk, or WireId of the group
        DVec3 origin;              ///< of the mesh's frame, for chunks; groups: zero
        std::optional<Mesh> mesh;  ///< none: it went
    };
    /// What came, changed or went since the last call, as playback shows it.
    std::vector<MeshChange> take_chunk_changes();
    std::vector<MeshChange> take_group_changes();
    std::vector<FrameEffect> take_effects();  ///< points relative to origin()
    struct Notice {
        bool error = false;
        std::string text;
    };
    std::vector<Notice> take_notices();

    /// Moves playback to `now`.
    void advance(double now);
    /// Groups as of the last advance(), in no particular but always the same order.
    std::span<const WireId> group_ids() const;
    /// Eight floats for each: px py pz 0 qx qy qz qw.
    std::span<const float> transforms() const;
    /// The same in full; nullopt when the group is not shown.
    std::optional<Pose> pose_of(WireId id) const;
    /// Groups whose pose is worked out anew each frame.
    std::size_t moving_count() const;

    struct Pick {
        enum class Kind : std::uint8_t { none, ground, terrain, group };
        Kind kind = Kind::none;
        WireId group = 0;
        Cell cell;
        DVec3 point;
        Vec3 normal;  ///< world axes
        double distance = 0;
    };
    /// The first block along a ray, through every group's own grid. Direction of any length but zero.
    Pick pick(DVec3 origin, Vec3 direction, double reach) const;

    struct Player {
        DVec3 position;  ///< feet, middle of the box
        DVec3 velocity;  ///< own, on top of what carries it
        bool flying = false;
        bool on_ground = false;
    };
    // The player is an upright box, metres.
    static constexpr double kPlayerWidth = 0.6, kPlayerHeight = 1.8;
    /// Carried by what it stands on, pushed by blasts that were shown since the last move (unless flying) and
    /// out of solids, then its own movement: gravity, steps of half a cell, jumps of one block.
    /// @param wish  wanted velocity, world axes (walking: x and z)
    Player move_player(const Player& player, DVec3 wish, bool jump, double dt, double now);

    struct Stats {
        bool connected = false;
        std::uint64_t tick = 0;  ///< newest received
        FrameStats frame;
        std::optional<double> ground;  ///< relative to origin()
        DBox bounds;                   ///< of everything at the last welcome, relative to origin()
        double shown_tick = 0;         ///< where playback is
        double rate = 1;               ///< of the playback clock
        std::uint32_t welcomes = 0;    ///< since the last reset(): each may bring another menu()
    };
    Stats stats() const;
    DVec3 origin() const;
    /// The worlds to choose from.
    const SceneMenu& menu() const;

    struct State;  ///< src/net/client_state.h

 private:
    std::unique_ptr<State> state_;
};

}  // namespace talus
