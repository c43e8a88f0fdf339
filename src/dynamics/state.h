// state.h - everything a Space holds.
//
// Layer: dynamics. Tests: tests/dynamics/space_test.cpp
#pragma once

#include "base/call_log.h"
#include "dynamics/body_store.h"
#include "dynamics/broad_phase.h"
#include "dynamics/narrow_phase.h"
#include "dynamics/pairs.h"
#include "dynamics/sleep.h"
#include "dynamics/solver.h"
#include "dynamics/sweep.h"
#include "talus/space.h"

#include <vector>

namespace talus {

struct Space::State {
    explicit State(const SpaceSettings& s);

    SpaceSettings settings;
    CallLog* calls = nullptr;  ///< where calls from outside are written down; null: nowhere
    bool paused = false;
    std::uint16_t layers[16];  ///< bit j of word i: layers i and j collide

    BodyStore bodies;
    WorldSolids world;
    PairTable pairs;
    BroadPhase broad;
    NarrowPhase narrow;
    ContactSolver solver;
    Sleep sleep;
    Sweep sweep;

    ContactFilter* filter = nullptr;
    std::vector<Contact> contacts;
    std::vector<std::int32_t> next_contact;  ///< parallel: the next of the same pair; -1 ends
    std::vector<BodyId> quarantined;
    std::uint32_t step_number = 1;
    std::vector<std::int32_t> freed;  ///< slots to release in the next step

    // Of one internal step.
    std::vector<std::int32_t> movers;  ///< bodies that move, in order
    std::vector<std::int32_t> awake;   ///< of those, the dynamic ones
    std::vector<std::int32_t> others;  ///< touched by those, but do not move
    std::vector<Vec3> velocity_before;
    enum Touch : char { kUntouched, kTouched, kOnFaces, kSliding };  ///< see touch_of(); the last one counts
    std::vector<char> touched;                                       ///< by body
    float last_dt = 1.0f / 60;                                       ///< of the last internal step
    Vec3 up;                                                         ///< against gravity; zero without
    std::vector<Departure> departures;
    std::vector<std::int32_t> fast;
    std::vector<char> moved;  ///< parallel to departures: Moved
    std::vector<std::int32_t> to_wake;
    bool slowed = false, slowed_before = false;  ///< more than a step can follow was asked for, and cut
    std::vector<char> cut_in;                    ///< by chunk of movers: was something cut?
    std::size_t busiest = 0;                     ///< step since scratch went: bodies and pairs in it

    void number_steps_anew();
    void drop_scratch();
    void internal_step(Space* space, float dt, int sub_steps);
    void advance(float dt, int sub_steps, JobSystem* jobs);
    void quarantine_bad_input();
    void report_slowed();
    void quarantine(std::int32_t body);
    void wake_hit(float dt);
    void load_solver(float h, JobSystem* jobs);
    void load_frame(std::int32_t body, std::size_t place);
    /// What a chunk of pairs tells after the solver.
    struct Reading {
        std::vector<Contact> contacts;  ///< not yet in Space::contacts()
        struct Run {                    ///< those of one pair
            std::int32_t pair, count;
            std::int32_t after;  ///< they follow this entry of Space::contacts(); -1: they are its first
        };
        std::vector<Run> runs;
        struct Touched {
            std::int32_t a, b;
            char touch;
        };
        std::vector<Touched> touched;
    };
    std::vector<Reading> readings;               ///< by chunk
    std::vector<std::int32_t> first_of_reading;  ///< by chunk: of its contacts
    void read_contacts(JobSystem* jobs);
    void read_pair(Reading& out, const ActivePair& active);
    Contact contact_of(const Pair& pair, const Manifold& manifold, Vec3 normal) const;
    char touch_of(const Pair& pair, const Manifold& manifold, Vec3 normal) const;
    void place(const Reading& reading, std::int32_t first);
    void calm(BodyHot& body, float dt) const;
    enum Moved : char { kMoved, kMovedFast, kMovedBadly };
    void move_bodies(float dt, JobSystem* jobs);
    Moved move_body(const SolverDrive& drive, float dt, Departure& departure, char& cut);
    void turn_body(std::int32_t body, float dt);
    void forget_removed();
    void end_forces();

    void wake(std::int32_t body);
    /// Sleepers whose shape their owner can make again go without, while nothing that moves is beside them.
    void rest_shapes();
    /// Wakes what touches the body or nearly does.
    void wake_neighbours(std::int32_t body);
    /// Wakes what is near a box of the body, given in its axes about its centre of mass.
    void wake_near(std::int32_t body, Vec3 center, Vec3 half);
    void drop_pairs(std::int32_t body);
    void add_world_pair(std::int32_t body);
    /// Partners are looked for again, and the filter asked.
    void make_pairs_anew(std::int32_t body);
    /// About pairs that came near in this step.
    void ask_filter(Space* space);
    /// Its contacts are found anew in the next step.
    void refresh_contacts(std::int32_t body);
    /// The world around all bodies is another one: wakes them, and every contact is found anew.
    void look_anew();
    template <class F>
    void each_pair(std::int32_t body, F&& f) {
        for (std::int32_t i = bodies.hot[std::size_t(body)].first_pair; i >= 0;) {
            Pair& p = pairs.pairs[std::size_t(i)];
            const std::int32_t next = p.next[p.a == body ? 0 : 1];
            f(i, p, p.a == body ? p.b : p.a);
            i = next;
        }
    }
};

}  // namespace talus
