#include "net/playback.h"

namespace talus {

namespace {

constexpr double kWindow = 3;       // seconds of arrivals that tell how late a frame may be
constexpr double kSlow = 1.15;      // times the tick's time, from which a server counts as slow
constexpr double kMargin = 0.25;    // ticks on top
constexpr double kMaxBehind = 1.0;  // seconds: further behind, playback jumps
constexpr double kSteer = 2;        // share of the error corrected a second
constexpr double kMaxSteer = 0.5;   // most that the clock runs fast or slow
// A centre of mass that bends more than twice as much as gravity does was hit: no parabola there.
constexpr double kMaxBend = 2 * 9.81;  // m/s^2

double clamped(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

}  // namespace

void PlaybackClock::start(std::uint64_t tick, double ticks_per_second, double now) {
    *this = {};
    dt_ = 1 / ticks_per_second;
    first_ = newest_ = tick;
    shown_ = double(tick) - 1 - kMargin;
    last_ = now;
    arrived(tick, now);
}

void PlaybackClock::arrived(std::uint64_t tick, double now) {
    newest_ = tick;
    arrivals_.push_back({now, double(tick - first_)});
    while (arrivals_.size() > 2 && arrivals_.front().now < now - kWindow) arrivals_.pop_front();
}

double PlaybackClock::advance(double now) {
    const double passed = now - last_;
    if (!(passed > 0)) return shown_;
    last_ = now;
    // A server that cannot keep up ticks slower than it says.
    double tick_time = dt_;
    const Arrival &oldest = arrivals_.front(), &last = arrivals_.back();
    if (last.tick > oldest.tick) {
        const double measured = (last.now - oldest.now) / (last.tick - oldest.tick);
        if (measured > kSlow * dt_ && last.now - oldest.now > kWindow / 2) tick_time = measured;
    }
    // Frame n must be there when playback enters the tick before it: one tick behind the latest arrival.
    double latest = last.now - last.tick * tick_time;
    for (const Arrival& a : arrivals_) {
        const double lag = a.now - a.tick * tick_time;
        latest = lag > latest ? lag : latest;
    }
    const double wanted = double(first_) + (now - latest) / tick_time - 1 - kMargin;
    const double newest = double(newest_);
    if (newest - shown_ > kMaxBehind / dt_) {
        // A tab that slept: no use in showing all of it fast.
        shown_ = wanted > shown_ ? wanted : shown_;
        rate_ = 1;
    } else {
        const double error = (wanted - shown_) * tick_time - passed;  // seconds
        rate_ = 1 + clamped(error * kSteer, -kMaxSteer, kMaxSteer);
        shown_ += passed / tick_time * rate_;
    }
    if (shown_ > newest) shown_ = newest;
    return shown_;
}

Quat arc(Quat a, Quat b, float t) {
    if (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0) b = {-b.x, -b.y, -b.z, -b.w};
    auto mix = [](Quat p, Quat q, float s) {
        return normalized(
            Quat{p.x + (q.x - p.x) * s, p.y + (q.y - p.y) * s, p.z + (q.z - p.z) * s, p.w + (q.w - p.w) * s});
    };
    // The middle of the chord points to the middle of the arc: halving is exact, and on what is left chord
    // and arc agree (to 1e-5 rad for a quarter turn, without sine or arc cosine).
    for (int k = 0; k < 3; k++) {
        const Quat middle = mix(a, b, 0.5f);
        if (t < 0.5f) {
            b = middle;
            t = 2 * t;
        } else {
            a = middle;
            t = 2 * t - 1;
        }
    }
    return mix(a, b, t);
}

void Motion::start(const Pose& birth, const Pose& pose, Vec3 pivot) {
    pivot_ = pivot;
    from_ = {birth, to_world(birth, pivot)};
    to_ = {pose, to_world(pose, pivot)};
    has_before_ = false;
}

void Motion::step() {
    before_ = from_;
    from_ = to_;
    has_before_ = true;
}

void Motion::target(const Pose& pose) { to_ = {pose, to_world(pose, pivot_)}; }

bool Motion::still() const { return from_.pose == to_.pose && (!has_before_ || before_.pose == from_.pose); }

Pose Motion::at(double t, double dt) const {
    if (t >= 1) return to_.pose;
    const DVec3 way = to_.center - from_.center;
    DVec3 center = from_.center + way * t;
    if (has_before_) {
        const DVec3 bend = way - (from_.center - before_.center);
        if (length(bend) < kMaxBend * dt * dt) center += bend * (t * (t - 1) / 2);
    }
    Pose pose;
    pose.rotation = arc(from_.pose.rotation, to_.pose.rotation, float(t));
    pose.position = center - to_double(rotate(pose.rotation, pivot_));
    return pose;
}

}  // namespace talus
