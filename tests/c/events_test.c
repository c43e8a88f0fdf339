/* What happens to a level, told through the C ABI: events, wear, carving, hooks of a type, calls from inside of
 * a tick. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t count_of(talus_level level) {
    size_t count = 99;
    OK(talus_event_count(level, &count));
    return count;
}

/* How many events of a kind there are; the last of them. */
static int events_of(talus_level level, int kind, talus_event* last) {
    const size_t count = count_of(level);
    talus_event event;
    size_t i;
    int found = 0;
    for (i = 0; i < count; i++) {
        OK(talus_event_get(level, i, &event, sizeof event));
        if (event.kind != kind) continue;
        found++;
        if (last) *last = event;
    }
    return found;
}

/* A post of four stones with an arm: over 51 are too many. */
static talus_group add_crane(talus_level level, talus_block stone, int arm, const char* type) {
    talus_group_settings placing;
    talus_group group = {0, 0};
    int32_t cells[3 * 80];
    talus_block blocks[80];
    int i;
    memset(cells, 0, sizeof cells);
    for (i = 0; i < 4 + arm; i++) {
        cells[3 * i] = i < 4 ? 0 : i - 3;
        cells[3 * i + 1] = i < 4 ? i : 3;
        blocks[i] = stone;
    }
    OK(talus_group_settings_init(&placing, sizeof placing));
    placing.bears_load = 1;
    placing.asleep = 1;
    placing.type = type;
    OK(talus_add_group(level, &placing, cells, blocks, (size_t)(4 + arm), &group));
    return group;
}

static void a_collapse_is_told(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone);
    talus_event event;
    talus_group group;
    int32_t bonds[6] = {9, 9, 9, 9, 9, 9};
    size_t count, i;
    run(level, 1);
    CHECK(count_of(level) == 0); /* nobody asked for them */
    OK(talus_keep_events(level, 1));
    group = add_crane(level, stone, 52, NULL);
    CHECK(events_of(level, TALUS_EVENT_GROUP_ADDED, &event) == 1 && event.group.index == group.index);
    OK(talus_clear_events(level));
    CHECK(count_of(level) == 0);
    OK(talus_check_group(level, group));
    run(level, 3);
    CHECK(events_of(level, TALUS_EVENT_BONDS_BROKEN, &event) == 1);
    CHECK(event.group.index == group.index && event.value >= 1);
    CHECK(events_of(level, TALUS_EVENT_DUST, NULL) >= 1 && events_of(level, TALUS_EVENT_SOUND, NULL) >= 1);
    CHECK(events_of(level, TALUS_EVENT_GROUP_ADDED, &event) == 1);
    CHECK(event.parent.index == group.index && event.group.index != group.index);
    for (i = 0, count = 0; count == 0 && i < count_of(level); i++) {
        OK(talus_event_get(level, i, &event, sizeof event));
        OK(talus_event_bonds(level, i, bonds, 1, &count));
        CHECK((count > 0) == (event.kind == TALUS_EVENT_BONDS_BROKEN));
    }
    CHECK(count >= 1 && bonds[1] == 3 && bonds[4] == 3 && bonds[3] - bonds[0] + bonds[5] - bonds[2] == 1);
    CHECK(talus_event_get(level, count_of(level), &event, sizeof event) == TALUS_NOT_FOUND);
    CHECK(talus_event_bonds(level, 999999, bonds, 1, &count) == TALUS_NOT_FOUND);
    CHECK(talus_event_get(level, 0, NULL, sizeof event) == TALUS_BAD_ARGUMENT);
    OK(talus_keep_events(level, 0));
    run(level, 1);
    CHECK(count_of(level) == 0);
    OK(talus_level_destroy(level));
    CHECK(talus_event_count(level, &count) == TALUS_BAD_HANDLE);
    CHECK(talus_keep_events(level, 1) == TALUS_BAD_HANDLE);
    CHECK(talus_clear_events(level) == TALUS_BAD_HANDLE);
}

static void damage_is_told_with_its_cause(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone);
    const int32_t mined[3] = {0, 0, 0}, worn[3] = {3, 3, 0};
    const talus_group none = {0, 0};
    const double at[3] = {8.5, 0.5, 0.5}, from[3] = {4.5, 3.5, 0.5}, to[3] = {6.5, 3.5, 0.5};
    talus_event event;
    talus_group group;
    uint64_t n = 0;
    int32_t through = 5;
    double wear = 9;
    int x;
    OK(talus_keep_events(level, 1));
    for (x = 0; x < 10; x++) {
        const int32_t cell[3] = {x, 0, 0};
        OK(talus_set_terrain(level, cell, stone));
    }
    CHECK(events_of(level, TALUS_EVENT_TERRAIN_BLOCK, &event) == 10 && event.cell[0] == 9);
    OK(talus_clear_events(level));
    OK(talus_break_terrain(level, mined));
    CHECK(events_of(level, TALUS_EVENT_BLOCK_DESTROYED, &event) == 1);
    CHECK(event.cause == TALUS_CAUSE_MINED && event.block == stone && event.group.index == 0);
    CHECK(fabs(event.point[0] - .5) < 1e-9);
    CHECK(events_of(level, TALUS_EVENT_DROP, &event) == 1 && event.cause == TALUS_CAUSE_MINED);
    OK(talus_clear_events(level));
    OK(talus_carve_sphere(level, at, 1.1, &n));
    CHECK(n == 3 && events_of(level, TALUS_EVENT_BLOCK_DESTROYED, &event) == 3);
    CHECK(event.cause == TALUS_CAUSE_CARVE && events_of(level, TALUS_EVENT_DROP, NULL) == 0);
    CHECK(talus_carve_sphere(level, at, -1, &n) == TALUS_BAD_ARGUMENT);

    group = add_crane(level, stone, 10, NULL);
    OK(talus_carve_capsule(level, from, to, 0.2, &n));
    CHECK(n == 3);
    CHECK(talus_carve_capsule(level, from, NULL, 0.2, &n) == TALUS_BAD_ARGUMENT);
    OK(talus_wear_down(level, group, worn, 0.25, &through));
    CHECK(through == 0);
    OK(talus_wear_of(level, group, worn, &wear));
    CHECK(fabs(wear - .25) < 1e-6);
    OK(talus_wear_down(level, group, worn, 1, &through));
    CHECK(through == 1);
    CHECK(talus_wear_down(level, group, worn, 2, &through) == TALUS_BAD_ARGUMENT);
    OK(talus_wear_of(level, none, mined, &wear)); /* plain terrain does not wear */
    CHECK(wear == 0);
    OK(talus_wear_down(level, none, mined, 1, NULL));
    OK(talus_remove_group(level, group));
    CHECK(talus_remove_group(level, group) == TALUS_NOT_FOUND);
    CHECK(talus_wear_of(level, group, worn, &wear) == TALUS_NOT_FOUND);
    CHECK(events_of(level, TALUS_EVENT_GROUP_REMOVED, &event) == 1 && event.group.index == group.index);
    OK(talus_clear_events(level));
    OK(talus_blast(level, at, 3, NULL));
    CHECK(events_of(level, TALUS_EVENT_BLAST, &event) == 1 && event.value == 3);
    OK(talus_level_destroy(level));
}

typedef struct told {
    talus_level level;
    int bears, bonds, wears, poses, settles, refusals;
    double height;
} told;
static int32_t bears(void* context, talus_group group, int32_t usual) {
    (void)group;
    ((told*)context)->bears++;
    return usual;
}
static int32_t broke(void* context, talus_group group, const int32_t* bonds, size_t count) {
    (void)group;
    ((told*)context)->bonds += (int)count;
    CHECK(bonds[1] == 3);
    return 1; /* shown already */
}
static double wears(void* context, talus_group group, const int32_t cell[3], double share, double usual) {
    (void)group, (void)cell;
    ((told*)context)->wears++;
    CHECK(fabs(usual - .5 * share) < 1e-6);
    return 0.125;
}
static void posed(void* context, talus_group group, const double position[3], const double rotation[4]) {
    (void)group;
    ((told*)context)->poses++;
    ((told*)context)->height = position[1];
    CHECK(fabs(rotation[3]) <= 1.001);
}
static int nothing_written(void* context, const uint8_t* bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    return 1;
}
static void settles(void* context, talus_group group) {
    told* of = context;
    (void)group;
    of->settles++;
    of->refusals += talus_tick(of->level) == TALUS_BAD_ARGUMENT;
    of->refusals += talus_level_destroy(of->level) == TALUS_BAD_ARGUMENT;
    of->refusals += talus_snapshot_take(of->level, nothing_written, NULL) == TALUS_BAD_ARGUMENT;
    of->refusals += talus_recording_start(of->level, nothing_written, NULL) == TALUS_BAD_ARGUMENT;
}

static void a_type_is_asked_and_may_call_back(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone);
    told of;
    talus_group_type type;
    talus_group group;
    const double beside[3] = {0.5, 1.5, 1.55};
    const int32_t cell[3] = {0, 1, 0};
    double wear = 0;
    memset(&of, 0, sizeof of);
    of.level = level;
    OK(talus_group_type_init(&type, sizeof type));
    type.name = "told";
    type.context = &of;
    type.bears_load = bears;
    type.on_bonds_broken = broke;
    type.blast_wear = wears;
    type.on_pose = posed;
    type.on_settle = settles;
    OK(talus_add_group_type(level, &type));
    group = add_crane(level, stone, 52, "told");
    OK(talus_keep_events(level, 1));
    OK(talus_check_group(level, group));
    run(level, 3);
    CHECK(of.bonds >= 1 && of.poses >= 1 && of.settles >= 1);
    CHECK(of.refusals == 4 * of.settles);
    CHECK(events_of(level, TALUS_EVENT_DUST, NULL) == 0); /* it was shown already */
    CHECK(fabs(of.height) < 5);
    OK(talus_blast(level, beside, 1.89 * 0.6 + 0.45, NULL));
    OK(talus_wear_of(level, group, cell, &wear));
    CHECK(of.bears > 0 && of.wears > 0 && fabs(wear - .125) < 1e-6);
    OK(talus_level_destroy(level)); /* outside it may go */
}

static void limits_of_judging(void) {
    int what;
    for (what = 0; what < 3; what++) {
        talus_block stone = 0;
        const talus_level level = stone_level(&stone);
        talus_level_settings settings;
        talus_group group;
        size_t count = 0;
        OK(talus_get_settings(level, &settings, sizeof settings));
        CHECK(settings.structure_max_solids == 4000000 && settings.structure_max_tilt == 25);
        if (what == 1) settings.structure_max_solids = 50;
        if (what == 2) settings.structure_max_tilt = 361;
        CHECK(talus_change_settings(level, &settings) == (what == 2 ? TALUS_BAD_ARGUMENT : TALUS_OK));
        group = add_crane(level, stone, 52, NULL);
        OK(talus_check_group(level, group));
        run(level, 3);
        OK(talus_group_count(level, &count));
        CHECK(count == (what == 1 ? 1u : 2u));
        OK(talus_level_destroy(level));
    }
}

int main(void) {
    a_collapse_is_told();
    damage_is_told_with_its_cause();
    a_type_is_asked_and_may_call_back();
    limits_of_judging();
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
