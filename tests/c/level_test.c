/* The C ABI as a C11 program sees it. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static talus_level make_level(void) {
    talus_level_settings settings;
    talus_level level = 0;
    OK(talus_level_settings_init(&settings, sizeof settings));
    CHECK(settings.size == sizeof settings && settings.cell_size == 1 && settings.ticks_per_second == 20);
    settings.has_ground = 1;
    settings.ground = -10;
    settings.floor = -100;
    OK(talus_level_create(&settings, &level));
    CHECK(level != 0);
    return level;
}

/* A bar of `length` blocks along x. */
static talus_group add_bar(talus_level level, talus_block block, int length, double height) {
    int32_t cells[3 * 64];
    talus_block blocks[64];
    talus_group_settings settings;
    talus_group group = {0, 0};
    int i;
    for (i = 0; i < length; i++) {
        cells[3 * i] = i;
        cells[3 * i + 1] = cells[3 * i + 2] = 0;
        blocks[i] = block;
    }
    OK(talus_group_settings_init(&settings, sizeof settings));
    settings.position[1] = height;
    OK(talus_add_group(level, &settings, cells, blocks, (size_t)length, &group));
    CHECK(group.index != 0);
    return group;
}

static void a_bar_falls_is_cut_and_blasted(void) {
    const talus_level level = make_level();
    talus_material material;
    talus_block stone = 0, again = 0, steel = 0, found = 0;
    talus_group bar, ids[8];
    talus_group_info info;
    talus_level_stats stats;
    talus_ray_hit hit;
    size_t count = 0;
    uint64_t removed = 0, destroyed = 0, hash = 0, later = 0;
    int32_t cells[3 * 64], ground[3] = {0, -1, 0};
    talus_block blocks[64];
    const double above[3] = {2.5, 20, 0.5}, down[3] = {0, -2, 0}, aside[3] = {500.5, 20, 0.5}, up[3] = {0, 1, 0};
    const double low[3] = {4, -100, -100}, high[3] = {5, 100, 100}, far[3] = {0, 1000, 0};
    double center[3];
    int i;

    OK(talus_material_init(&material, sizeof material));
    CHECK(strcmp(material.name, "stone") == 0 && material.density == 2600);
    OK(talus_define_block(level, &material, &stone));
    OK(talus_define_block(level, &material, &again));
    CHECK(stone != 0 && stone == again);
    OK(talus_material_find("steel", &material, sizeof material));
    OK(talus_define_block(level, &material, &steel));
    CHECK(steel != stone && material.density > 7000);
    CHECK(talus_material_find("cheese", &material, sizeof material) == TALUS_NOT_FOUND);

    for (i = -8; i < 16; i++) {
        int z;
        ground[0] = i;
        for (z = -8; z < 8; z++) {
            ground[2] = z;
            OK(talus_set_terrain(level, ground, stone));
        }
    }
    OK(talus_get_terrain(level, ground, &found));
    CHECK(found == stone);
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_TERRAIN && hit.cell[0] == 2 && hit.cell[1] == -1 && hit.normal[1] == 1);
    CHECK(fabs(hit.distance - 20) < 1e-4);

    bar = add_bar(level, steel, 9, 3);
    OK(talus_group_count(level, &count));
    CHECK(count == 1);
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_GROUP && hit.group.index == bar.index && hit.cell[0] == 2);
    OK(talus_cast_ray(level, aside, down, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_GROUND && fabs(hit.point[1] + 10) < 1e-4);
    OK(talus_cast_ray(level, above, up, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_NOTHING);

    OK(talus_group_get(level, bar, &info, sizeof info));
    CHECK(info.position[1] == 3 && !info.asleep && info.blocks == 9 && info.rotation[3] == 1);
    CHECK(fabs(info.mass - 9 * material.density) < 1);
    OK(talus_hash(level, &hash));
    for (i = 0; i < 100; i++) OK(talus_tick(level));
    OK(talus_hash(level, &later));
    CHECK(hash != later);
    OK(talus_group_get(level, bar, &info, sizeof info));
    CHECK(fabs(info.position[1]) < 0.05 && info.asleep); /* fallen onto the terrain and at rest */

    OK(talus_carve_box(level, low, high, &removed));
    CHECK(removed == 1 + 16); /* one of the bar, a row of the terrain */
    OK(talus_tick(level));
    OK(talus_group_ids(level, ids, 8, &count));
    CHECK(count == 2);
    CHECK(ids[0].index == bar.index && ids[0].generation == bar.generation);
    OK(talus_group_blocks(level, ids[1], cells, blocks, 64, &count));
    CHECK(count == 4 && blocks[0] == steel);
    OK(talus_group_blocks(level, ids[1], NULL, NULL, 0, &count));
    CHECK(count == 4);
    cells[3] = 77;
    OK(talus_group_blocks(level, ids[1], cells, NULL, 1, &count));
    CHECK(count == 4 && cells[3] == 77); /* no more than asked for */
    OK(talus_group_ids(level, NULL, 0, &count));
    CHECK(count == 2);

    OK(talus_blast(level, far, 4, &destroyed));
    CHECK(destroyed == 0);
    center[0] = 1.5;
    center[1] = -0.5;
    center[2] = 4.5;
    OK(talus_blast(level, center, 4, &destroyed));
    CHECK(destroyed > 0);
    OK(talus_stats(level, &stats, sizeof stats));
    CHECK(stats.tick == 101 && stats.groups >= 2 && stats.destroyed == destroyed + removed);
    OK(talus_level_destroy(level));
}

/* The same calls give the same bits. */
static void two_levels_agree(void) {
    uint64_t hashes[2] = {0, 1};
    int i, k;
    for (k = 0; k < 2; k++) {
        const talus_level level = make_level();
        talus_material material;
        talus_block stone = 0;
        OK(talus_material_find("stone", &material, sizeof material));
        OK(talus_define_block(level, &material, &stone));
        add_bar(level, stone, 7, 2);
        add_bar(level, stone, 3, 5);
        for (i = 0; i < 40; i++) OK(talus_tick(level));
        OK(talus_hash(level, &hashes[k]));
        OK(talus_level_destroy(level));
    }
    CHECK(hashes[0] == hashes[1]);
}

typedef struct bytes {
    uint8_t* data;
    size_t size, limit;
} bytes;
static int keep(void* context, const uint8_t* data, size_t size) {
    bytes* all = context;
    if (all->limit && all->size + size > all->limit) return 0;
    all->data = realloc(all->data, all->size + size);
    memcpy(all->data + all->size, data, size);
    all->size += size;
    return 1;
}

static void a_level_goes_on_from_a_snapshot_and_is_replayed(void) {
    const talus_level level = make_level();
    talus_level copy = 0, other = 0;
    talus_material material;
    talus_replay_report report;
    talus_block stone = 0;
    bytes snapshot = {NULL, 0, 0}, recording = {NULL, 0, 0}, little = {NULL, 0, 100};
    const double low[3] = {3, -100, -100}, high[3] = {4, 100, 100}, inside[3] = {1.5, -9, 0.5};
    uint64_t hash = 0, same = 1;
    int i;
    OK(talus_material_find("stone", &material, sizeof material));
    OK(talus_define_block(level, &material, &stone));
    OK(talus_recording_start(level, keep, &recording));
    add_bar(level, stone, 9, 2);
    for (i = 0; i < 20; i++) OK(talus_tick(level));
    OK(talus_snapshot_take(level, keep, &snapshot));
    OK(talus_snapshot_restore(snapshot.data, snapshot.size, &copy));
    CHECK(copy != level);
    OK(talus_carve_box(level, low, high, NULL));
    OK(talus_carve_box(copy, low, high, NULL));
    OK(talus_blast(level, inside, 3, NULL));
    OK(talus_blast(copy, inside, 3, NULL));
    for (i = 0; i < 30; i++) {
        OK(talus_tick(level));
        OK(talus_tick(copy));
        OK(talus_hash(level, &hash));
        OK(talus_hash(copy, &same));
        CHECK(hash == same);
    }
    OK(talus_recording_stop(level));
    OK(talus_tick(level)); /* no longer written down */
    OK(talus_replay(recording.data, recording.size, &report, sizeof report));
    CHECK(report.outcome == TALUS_REPLAY_SAME && report.first_tick == 0 && report.tick == 50);
    CHECK(report.calls == 3 && report.hash == hash && report.recorded_hash == hash && report.what[0] == 0);

    /* Damage is told, with what came before it, and changes nothing. */
    recording.data[recording.size - 5] ^= 1;
    CHECK(talus_replay(recording.data, recording.size, &report, sizeof report) == TALUS_BAD_DATA);
    CHECK(report.tick == 49 && strstr(talus_last_error(), "at byte "));
    CHECK(talus_replay(snapshot.data, snapshot.size, &report, sizeof report) == TALUS_BAD_DATA);
    CHECK(talus_snapshot_restore(snapshot.data, snapshot.size - 1, &other) == TALUS_BAD_DATA && other == 0);
    snapshot.data[snapshot.size / 2] ^= 1;
    CHECK(talus_snapshot_restore(snapshot.data, snapshot.size, &other) == TALUS_BAD_DATA);
    CHECK(strlen(talus_last_error()) > 0);

    /* A caller that wants no more. */
    CHECK(talus_snapshot_take(level, keep, &little) == TALUS_TOO_LARGE && little.size == 0);
    OK(talus_recording_start(copy, keep, &little));
    OK(talus_tick(copy));
    CHECK(little.size <= 100);

    CHECK(talus_snapshot_take(level, NULL, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_snapshot_restore(NULL, 5, &other) == TALUS_BAD_ARGUMENT);
    CHECK(talus_snapshot_restore(snapshot.data, 5, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_recording_start(level, NULL, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_replay(NULL, 5, &report, sizeof report) == TALUS_BAD_ARGUMENT);
    CHECK(talus_replay(recording.data, 5, NULL, sizeof report) == TALUS_BAD_ARGUMENT);
    OK(talus_recording_start(level, keep, &recording)); /* and goes with the level */
    OK(talus_level_destroy(level));
    OK(talus_level_destroy(copy));
    free(snapshot.data);
    free(recording.data);
    free(little.data);
}

/* Every function with a handle that is none, then with null pointers and nonsense. */
static void bad_calls_are_errors(void) {
    const talus_level good = make_level();
    talus_level gone = make_level(), bad[4];
    talus_level_settings settings;
    talus_material material;
    talus_group_settings placing;
    talus_group group = {0, 0}, none = {1, 7};
    talus_group_info info;
    talus_ray_hit hit;
    talus_level_stats stats;
    talus_block block = 0;
    size_t count = 0;
    uint64_t number = 0;
    int32_t cell[3] = {0, 0, 0}, outside[3] = {INT32_MAX, 0, 0}, wide[6] = {-65536, -65536, -65536, 65535, 65535, 65535};
    talus_block two[2];
    double here[3] = {0, 0, 0}, down[3] = {0, -1, 0}, nowhere[3] = {0, 0, 0};
    int i;
    nowhere[1] = (double)NAN;

    OK(talus_material_init(&material, sizeof material));
    OK(talus_group_settings_init(&placing, sizeof placing));
    OK(talus_level_destroy(gone));
    bad[0] = 0;
    bad[1] = gone;
    bad[2] = UINT64_MAX;
    bad[3] = good + (UINT64_C(1) << 32);
    for (i = 0; i < 4; i++) {
        const talus_level level = bad[i];
        CHECK(talus_level_destroy(level) == TALUS_BAD_HANDLE);
        CHECK(talus_define_block(level, &material, &block) == TALUS_BAD_HANDLE);
        CHECK(talus_set_terrain(level, cell, 0) == TALUS_BAD_HANDLE);
        CHECK(talus_get_terrain(level, cell, &block) == TALUS_BAD_HANDLE);
        CHECK(talus_add_group(level, &placing, cell, &block, 1, &group) == TALUS_BAD_HANDLE);
        CHECK(talus_blast(level, here, 4, &number) == TALUS_BAD_HANDLE);
        CHECK(talus_carve_box(level, here, here, &number) == TALUS_BAD_HANDLE);
        CHECK(talus_tick(level) == TALUS_BAD_HANDLE);
        CHECK(talus_group_count(level, &count) == TALUS_BAD_HANDLE);
        CHECK(talus_group_ids(level, &group, 1, &count) == TALUS_BAD_HANDLE);
        CHECK(talus_group_get(level, none, &info, sizeof info) == TALUS_BAD_HANDLE);
        CHECK(talus_group_blocks(level, none, cell, &block, 1, &count) == TALUS_BAD_HANDLE);
        CHECK(talus_cast_ray(level, here, down, 1, &hit, sizeof hit) == TALUS_BAD_HANDLE);
        CHECK(talus_stats(level, &stats, sizeof stats) == TALUS_BAD_HANDLE);
        CHECK(talus_hash(level, &number) == TALUS_BAD_HANDLE);
        CHECK(talus_snapshot_take(level, keep, NULL) == TALUS_BAD_HANDLE);
        CHECK(talus_recording_start(level, keep, NULL) == TALUS_BAD_HANDLE);
        CHECK(talus_recording_stop(level) == TALUS_BAD_HANDLE);
        CHECK(strlen(talus_last_error()) > 0);
    }

    CHECK(talus_level_settings_init(NULL, sizeof settings) == TALUS_BAD_ARGUMENT);
    CHECK(talus_level_settings_init(&settings, 3) == TALUS_BAD_ARGUMENT);
    CHECK(talus_level_settings_init(&settings, sizeof settings + 8) == TALUS_BAD_ARGUMENT);
    CHECK(talus_level_create(NULL, NULL) == TALUS_BAD_ARGUMENT);
    OK(talus_level_settings_init(&settings, sizeof settings));
    settings.cell_size = (double)NAN;
    CHECK(talus_level_create(&settings, &gone) == TALUS_BAD_ARGUMENT && gone == 0);
    OK(talus_level_settings_init(&settings, sizeof settings));
    settings.size = 100000;
    CHECK(talus_level_create(&settings, &gone) == TALUS_BAD_ARGUMENT);
    CHECK(talus_material_init(NULL, sizeof material) == TALUS_BAD_ARGUMENT);
    CHECK(talus_material_find(NULL, &material, sizeof material) == TALUS_BAD_ARGUMENT);
    CHECK(talus_material_find("stone", NULL, sizeof material) == TALUS_BAD_ARGUMENT);
    CHECK(talus_group_settings_init(NULL, sizeof placing) == TALUS_BAD_ARGUMENT);

    CHECK(talus_define_block(good, NULL, &block) == TALUS_BAD_ARGUMENT);
    CHECK(talus_define_block(good, &material, NULL) == TALUS_BAD_ARGUMENT);
    material.name = NULL;
    CHECK(talus_define_block(good, &material, &block) == TALUS_BAD_ARGUMENT);
    OK(talus_material_init(&material, sizeof material));
    material.density = -1;
    CHECK(talus_define_block(good, &material, &block) == TALUS_BAD_ARGUMENT);
    OK(talus_material_init(&material, sizeof material));
    OK(talus_define_block(good, &material, &block));

    CHECK(talus_set_terrain(good, NULL, block) == TALUS_BAD_ARGUMENT);
    CHECK(talus_set_terrain(good, outside, block) == TALUS_BAD_ARGUMENT);
    CHECK(talus_set_terrain(good, cell, 9999) == TALUS_BAD_ARGUMENT);
    CHECK(talus_get_terrain(good, NULL, &block) == TALUS_BAD_ARGUMENT);
    CHECK(talus_get_terrain(good, cell, NULL) == TALUS_BAD_ARGUMENT);

    two[0] = two[1] = block;
    CHECK(talus_add_group(good, NULL, NULL, two, 1, &group) == TALUS_BAD_ARGUMENT);
    CHECK(talus_add_group(good, NULL, cell, NULL, 1, &group) == TALUS_BAD_ARGUMENT);
    CHECK(talus_add_group(good, NULL, cell, two, 1, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_add_group(good, NULL, cell, two, 0, &group) == TALUS_BAD_ARGUMENT);
    CHECK(talus_add_group(good, NULL, outside, two, 1, &group) == TALUS_BAD_ARGUMENT);
    CHECK(talus_add_group(good, NULL, wide, two, 2, &group) == TALUS_TOO_LARGE);
    two[1] = 0;
    CHECK(talus_add_group(good, NULL, wide, two, 2, &group) == TALUS_BAD_ARGUMENT);
    placing.rotation[3] = 0;
    CHECK(talus_add_group(good, &placing, cell, two, 1, &group) == TALUS_BAD_ARGUMENT);
    placing.rotation[3] = 1;
    placing.position[0] = (double)INFINITY;
    CHECK(talus_add_group(good, &placing, cell, two, 1, &group) == TALUS_BAD_ARGUMENT);
    CHECK(group.index == 0);

    CHECK(talus_blast(good, NULL, 4, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_blast(good, nowhere, 4, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_blast(good, here, (double)NAN, NULL) == TALUS_BAD_ARGUMENT);
    OK(talus_blast(good, here, 4, NULL));
    CHECK(talus_carve_box(good, NULL, here, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_carve_box(good, here, nowhere, NULL) == TALUS_BAD_ARGUMENT);
    OK(talus_carve_box(good, here, here, NULL));
    CHECK(talus_group_count(good, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_group_ids(good, NULL, 1, &count) == TALUS_BAD_ARGUMENT);
    CHECK(talus_group_ids(good, &group, 1, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_group_get(good, none, &info, sizeof info) == TALUS_NOT_FOUND);
    CHECK(talus_group_blocks(good, none, cell, two, 1, &count) == TALUS_NOT_FOUND);
    OK(talus_add_group(good, NULL, cell, two, 1, &group));
    CHECK(talus_group_get(good, group, NULL, sizeof info) == TALUS_BAD_ARGUMENT);
    CHECK(talus_group_blocks(good, group, cell, two, 1, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_cast_ray(good, NULL, down, 1, &hit, sizeof hit) == TALUS_BAD_ARGUMENT);
    CHECK(talus_cast_ray(good, here, here, 1, &hit, sizeof hit) == TALUS_BAD_ARGUMENT);
    CHECK(talus_cast_ray(good, here, down, (double)INFINITY, &hit, sizeof hit) == TALUS_BAD_ARGUMENT);
    CHECK(talus_cast_ray(good, here, down, 1, NULL, sizeof hit) == TALUS_BAD_ARGUMENT);
    CHECK(talus_stats(good, NULL, sizeof stats) == TALUS_BAD_ARGUMENT);
    CHECK(talus_hash(good, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(strcmp(talus_status_text(TALUS_BAD_HANDLE), "bad handle") == 0);
    CHECK(strcmp(talus_status_text(12345), "unknown status") == 0);
    OK(talus_tick(good)); /* and the level still works */
    CHECK(strlen(talus_last_error()) == 0);
    OK(talus_level_destroy(good));
    CHECK(talus_level_destroy(good) == TALUS_BAD_HANDLE);
}

/* A caller built with an older header knows fewer fields. */
static void older_callers_get_the_defaults(void) {
    talus_level_settings settings;
    talus_level_stats stats;
    talus_level level = 0;
    memset(&settings, 0xff, sizeof settings);
    OK(talus_level_settings_init(&settings, offsetof(talus_level_settings, floor)));
    CHECK(settings.size == offsetof(talus_level_settings, floor) && settings.collapse == -1);
    OK(talus_level_create(&settings, &level)); /* floor, all bits set, is not read: it would be no number */
    memset(&stats, 0xff, sizeof stats);
    OK(talus_stats(level, &stats, offsetof(talus_level_stats, groups)));
    CHECK(stats.tick == 0 && stats.groups == UINT64_MAX);
    OK(talus_level_destroy(level));
}

int main(void) {
    int major = -1, minor = -1, patch = -1;
    CHECK(sscanf(talus_version(), "%d.%d.%d", &major, &minor, &patch) == 3 && major >= 0 && minor >= 0 && patch >= 0);
    a_bar_falls_is_cut_and_blasted();
    two_levels_agree();
    a_level_goes_on_from_a_snapshot_and_is_replayed();
    bad_calls_are_errors();
    older_callers_get_the_defaults();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
