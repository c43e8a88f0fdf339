// playback.h - the clock that shows the world a little behind the newest frame, and motion between ticks.
//
// Layer: net. Seconds and ticks in double; no clock of its own. Tests: tests/net/playback_test.cpp
#pragma once

#include "talus/math.h"

#include <cstdint>
#include <deque>

namespace talus {

class PlaybackClock {
 public:
    /// A new world: shown from this tick on.
    void start(std::uint64_t tick, double ticks_per_second, double now);
    /// A frame came in.
    void arrived(std::uint64_t tick, double now);
    /// Moves on. @return the tick to show: never after the newest frame, never backwards
    double advance(double now);

    double shown() const { return shown_; }
    double rate() const { return rate_; }

 private:
    struct Arrival {
        double now, tick;  // counted from the first
    };
    double dt_ = 0.05;
    double last_ = 0;   // time of the last advance
    double shown_ = 0;  // ticks
    double rate_ = 1;   // of the last advance
    std::uint64_t first_ = 0, newest_ = 0;
    std::deque<Arrival> arrivals_;  // of the last seconds
};

/// Unit quaternion at share t of the shorter great arc from a to b.
Quat arc(Quat a, Quat b, float t);

/// A rigid motion known at whole ticks, seen about a pivot.
class Motion {
 public:
    /// At rest at `pose`, or on its way there from `birth` one tick before.
    void start(const Pose& birth, const Pose& pose, Vec3 pivot);
    /// The next tick begins: its end is where the group already is, until target() says otherwise.
    void step();
    void target(const Pose& pose);
    /// Nothing changes between the last tick, this and the next.
    bool still() const;

    /// @param t  share of the tick, 0..1
    /// @param dt  seconds of a tick
    Pose at(double t, double dt) const;

 private:
    struct Knot {
        Pose pose;
        DVec3 center;
    };
    Knot before_, from_, to_;
    Vec3 pivot_;
    bool has_before_ = false;
};

}  // namespace talus
