/* The rules of a level through the C ABI: structures, protection, caps, budgets, assembling and settling, types
 * of groups, smooth ground. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void set(talus_level level, int x, int y, int z, talus_block block) {
    int32_t cell[3];
    cell[0] = x;
    cell[1] = y;
    cell[2] = z;
    OK(talus_set_terrain(level, cell, block));
}

static talus_level_stats stats_of(talus_level level) {
    talus_level_stats stats;
    OK(talus_stats(level, &stats, sizeof stats));
    return stats;
}

/* A post with two arms, twenty and ten long: a structure. */
static talus_structure build_arms(talus_level level, talus_block stone) {
    const int32_t low[3] = {-30, 0, 0}, high[3] = {30, 9, 0};
    talus_structure structure = {0, 0};
    int i;
    for (i = 0; i < 4; i++) set(level, 0, i, 0, stone);
    for (i = 1; i <= 20; i++) set(level, i, 3, 0, stone);
    for (i = 1; i <= 10; i++) set(level, -i, 3, 0, stone);
    OK(talus_mark_structure(level, low, high, &structure));
    CHECK(structure.index != 0);
    return structure;
}

static void settings_change_and_cap_a_collapse(void) {
    int what;
    for (what = 0; what < 4; what++) {
        talus_block stone = 0;
        const talus_level level = stone_level(&stone);
        const int32_t root[3] = {0, 2, 0};
        talus_level_settings settings;
        talus_level_stats stats;
        build_arms(level, stone);
        OK(talus_get_settings(level, &settings, sizeof settings));
        CHECK(settings.collapse == 1 && settings.collapse_max_blocks == 0 && settings.debris_ticks == 1200);
        CHECK(settings.structure_mode == TALUS_MODE_LOAD && settings.impact_speed == 7);
        settings.collapse = what != 0;
        settings.collapse_max_blocks = what == 2 ? 5 : 0;
        settings.collapse_max_pieces = what == 3 ? 1 : 0;
        settings.beyond_cap = TALUS_BEYOND_CRUMBLES;
        settings.work_per_tick = 100;
        OK(talus_change_settings(level, &settings));
        OK(talus_get_settings(level, &settings, sizeof settings));
        CHECK(settings.work_per_tick == 100 && settings.collapse_max_blocks == (what == 2 ? 5 : 0));
        OK(talus_break_terrain(level, root));
        CHECK(talus_break_terrain(level, root) == TALUS_NOT_FOUND);
        run(level, 3);
        stats = stats_of(level);
        CHECK(stats.structures == 1 && stats.drops == 1);
        CHECK(stats.groups == (what == 0 || what == 2 ? 0u : 1u));
        CHECK(stats.destroyed == (what == 2 ? 32u : 1u)); /* beyond the cap all crumbles */
        CHECK(stats.blocks == (what == 1 || what == 3 ? 31u : 0u));
        OK(talus_level_destroy(level));
    }
}

static void what_is_protected_stays(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone);
    const double low[3] = {-1, -1, -1}, high[3] = {4, 4, 4}, middle[3] = {1.5, 1.5, 1.5};
    const int32_t cell[3] = {1, 0, 1};
    uint32_t number = 0;
    uint64_t destroyed = 1;
    int x, y, z;
    for (x = 0; x < 3; x++)
        for (y = 0; y < 3; y++)
            for (z = 0; z < 3; z++) set(level, x, y, z, stone);
    OK(talus_protect(level, low, high, &number));
    CHECK(number != 0);
    OK(talus_blast(level, middle, 4, &destroyed));
    CHECK(destroyed == 0 && talus_break_terrain(level, cell) == TALUS_NOT_FOUND);
    OK(talus_unprotect(level, number));
    OK(talus_blast(level, middle, 4, &destroyed));
    CHECK(destroyed > 0);
    CHECK(talus_protect(level, high, low, &number) == TALUS_BAD_ARGUMENT);
    OK(talus_level_destroy(level));
}

static void a_build_is_assembled_worked_on_and_settles(void) {
    talus_block stone = 0, found = 0;
    const talus_level level = stone_level(&stone);
    const int32_t corner[3] = {0, 0, 0}, low[3] = {-9, 0, -9}, high[3] = {9, 9, 9}, air[3] = {5, 5, 5};
    const int32_t beside[3] = {2, 0, 0}, loose[3] = {7, 0, 0};
    talus_group group = {0, 0}, one = {0, 0};
    talus_group_info info;
    talus_settle_settings how;
    talus_settle_report report;
    int x, z;
    for (x = 0; x < 2; x++)
        for (z = 0; z < 2; z++) set(level, x, 0, z, stone);
    CHECK(talus_assemble(level, air, low, high, 100, 1, &group) == TALUS_NOT_FOUND);
    CHECK(talus_assemble(level, corner, low, high, 3, 1, &group) == TALUS_NOT_FOUND); /* over the limit */
    OK(talus_assemble(level, corner, low, high, 4, 1, &group));
    OK(talus_group_get(level, group, &info, sizeof info));
    CHECK(info.blocks == 4 && info.bears_load);
    OK(talus_place_block(level, group, beside, stone));
    CHECK(talus_place_block(level, group, beside, stone) == TALUS_BAD_ARGUMENT);
    OK(talus_remove_block(level, group, beside));
    CHECK(talus_remove_block(level, group, beside) == TALUS_NOT_FOUND);
    OK(talus_check_group(level, group));
    run(level, 80);
    OK(talus_settle_settings_init(&how, sizeof how));
    CHECK(how.max_tilt == 2);
    set(level, 1, 0, 1, stone);
    OK(talus_settle(level, group, &how, &report, sizeof report));
    CHECK(report.outcome == TALUS_SETTLE_TAKEN && report.placed == 0);
    set(level, 1, 0, 1, 0);
    OK(talus_settle(level, group, NULL, &report, sizeof report));
    CHECK(report.outcome == TALUS_SETTLED && report.placed == 4);
    CHECK(talus_settle(level, group, NULL, &report, sizeof report) == TALUS_NOT_FOUND);
    OK(talus_get_terrain(level, corner, &found));
    CHECK(found == stone);

    /* One block alone, made debris. */
    set(level, 7, 0, 0, stone);
    OK(talus_physicify(level, loose, &one));
    CHECK(talus_physicify(level, loose, &one) == TALUS_NOT_FOUND && one.index == 0);
    OK(talus_group_ids(level, &one, 1, &(size_t){0}));
    OK(talus_set_debris(level, one, 20));
    CHECK(talus_set_debris(level, one, -1) == TALUS_BAD_ARGUMENT);
    run(level, 100);
    CHECK(stats_of(level).groups == 0);
    OK(talus_level_destroy(level));
}

typedef struct told {
    int strengths, pieces, ends, refusals;
    uint64_t blocks;
} told;
static double weak(void* context, talus_group group, const int32_t cell[3], double usual) {
    (void)group, (void)cell;
    ((told*)context)->strengths++;
    return usual * 1e-4;
}
static void piece_comes(void* context, talus_group from, talus_piece* piece) {
    (void)from;
    ((told*)context)->pieces++;
    ((told*)context)->blocks += piece->blocks;
    piece->slippery = 0;
}
static void tick_ends(void* context, talus_group group) {
    (void)group;
    ((told*)context)->ends++;
}
static int32_t refuse(void* context, talus_group group) {
    (void)group;
    ((told*)context)->refusals++;
    return 0;
}

static void a_type_decides(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone);
    told of = {0, 0, 0, 0, 0};
    talus_group_type type;
    talus_group_settings placing;
    talus_settle_report report;
    talus_group group = {0, 0};
    char name[8] = "paper";
    int32_t cells[3 * 12];
    talus_block blocks[12];
    int i;
    OK(talus_group_type_init(&type, sizeof type));
    CHECK(type.name == NULL && type.size == sizeof type);
    CHECK(talus_add_group_type(level, &type) == TALUS_BAD_ARGUMENT); /* has no name */
    type.name = name;
    type.context = &of;
    type.bond_strength = weak;
    type.new_piece = piece_comes;
    type.on_end_tick = tick_ends;
    type.may_settle = refuse;
    OK(talus_add_group_type(level, &type));
    memset(name, 'x', 7); /* it was copied */
    memset(cells, 0, sizeof cells);
    for (i = 0; i < 12; i++) {
        cells[3 * i] = i < 4 ? 0 : i - 3; /* a post of four, an arm of eight */
        cells[3 * i + 1] = i < 4 ? i : 3;
        blocks[i] = stone;
    }
    OK(talus_group_settings_init(&placing, sizeof placing));
    placing.bears_load = 1;
    placing.asleep = 1;
    placing.type = "paper";
    OK(talus_add_group(level, &placing, cells, blocks, 12, &group));
    OK(talus_check_group(level, group));
    run(level, 3);
    CHECK(of.strengths >= 12 && of.ends >= 3);
    CHECK(of.pieces > 0 && of.blocks >= 8 && stats_of(level).groups == 1u + (unsigned)of.pieces);
    OK(talus_settle(level, group, NULL, &report, sizeof report));
    CHECK(report.outcome == TALUS_SETTLE_MOVING || (report.outcome == TALUS_SETTLE_REFUSED && of.refusals));
    OK(talus_level_destroy(level));
}

static float hill(void* context, int32_t x, int32_t y, int32_t z) {
    (void)x, (void)z;
    return (float)(*(double*)context - y);
}

static void smooth_ground_is_dug_and_filled(void) {
    talus_level_settings settings;
    talus_material material;
    talus_level level = 0;
    talus_block sand = 0;
    talus_ray_hit hit;
    double height = 2.5;
    const double above[3] = {0.5, 50, 0.5}, down[3] = {0, -1, 0}, top[3] = {0.5, 2.5, 0.5};
    uint64_t hash = 0, later = 0;
    OK(talus_level_settings_init(&settings, sizeof settings));
    OK(talus_level_create(&settings, &level));
    OK(talus_material_find("sand", &material, sizeof material));
    OK(talus_define_block(level, &material, &sand));
    CHECK(talus_dig(level, top, 1) == TALUS_NOT_FOUND);
    OK(talus_set_smooth_terrain(level, hill, &height, sand));
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_SMOOTH && fabs(hit.distance - 47.5) < .05);
    OK(talus_hash(level, &hash));
    OK(talus_dig(level, top, 2));
    OK(talus_hash(level, &later));
    CHECK(hash != later);
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.distance > 49 && hit.distance < 50);
    OK(talus_fill(level, top, 3));
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.distance < 45.5);
    CHECK(talus_fill(level, top, 1e5) == TALUS_TOO_LARGE);
    CHECK(talus_fill(level, top, (double)NAN) == TALUS_BAD_ARGUMENT);
    run(level, 2);
    OK(talus_set_smooth_terrain(level, NULL, NULL, 0));
    OK(talus_cast_ray(level, above, down, 100, &hit, sizeof hit));
    CHECK(hit.kind == TALUS_HIT_NOTHING);
    OK(talus_level_destroy(level));
}

static void bad_calls_are_errors(void) {
    talus_block stone = 0;
    const talus_level level = stone_level(&stone), none = 0;
    const int32_t cell[3] = {0, 0, 0}, other[3] = {1, 1, 1};
    const double here[3] = {0, 0, 0};
    const talus_group no_group = {3, 1};
    const talus_structure no_structure = {3, 1};
    talus_level_settings settings;
    talus_group_type type;
    talus_settle_report report;
    talus_structure structure;
    talus_group group;
    uint32_t number;
    OK(talus_get_settings(level, &settings, sizeof settings));
    OK(talus_group_type_init(&type, sizeof type));
    CHECK(talus_get_settings(none, &settings, sizeof settings) == TALUS_BAD_HANDLE);
    CHECK(talus_change_settings(none, &settings) == TALUS_BAD_HANDLE);
    CHECK(talus_change_settings(level, NULL) == TALUS_BAD_ARGUMENT);
    settings.beyond_cap = 2;
    CHECK(talus_change_settings(level, &settings) == TALUS_BAD_ARGUMENT);
    CHECK(talus_mark_structure(none, cell, other, &structure) == TALUS_BAD_HANDLE);
    CHECK(talus_mark_structure(level, cell, other, &structure) == TALUS_NOT_FOUND);
    CHECK(talus_mark_structure(level, other, cell, &structure) == TALUS_BAD_ARGUMENT);
    CHECK(talus_mark_structure(level, cell, NULL, &structure) == TALUS_BAD_ARGUMENT);
    CHECK(talus_unmark_structure(level, no_structure) == TALUS_NOT_FOUND);
    CHECK(talus_check_structure(level, no_structure) == TALUS_NOT_FOUND);
    CHECK(talus_check_group(level, no_group) == TALUS_NOT_FOUND);
    CHECK(talus_break_terrain(level, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_remove_block(level, no_group, cell) == TALUS_NOT_FOUND);
    CHECK(talus_place_block(level, no_group, cell, stone) == TALUS_NOT_FOUND);
    CHECK(talus_physicify(level, cell, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_physicify(none, cell, &group) == TALUS_BAD_HANDLE);
    CHECK(talus_assemble(level, cell, cell, other, 5, 1, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_settle(level, no_group, NULL, &report, sizeof report) == TALUS_NOT_FOUND);
    CHECK(talus_settle_settings_init(NULL, 8) == TALUS_BAD_ARGUMENT);
    CHECK(talus_protect(none, here, here, &number) == TALUS_BAD_HANDLE);
    CHECK(talus_protect(level, here, here, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_unprotect(none, 1) == TALUS_BAD_HANDLE);
    CHECK(talus_set_debris(level, no_group, 5) == TALUS_NOT_FOUND);
    CHECK(talus_add_group_type(none, &type) == TALUS_BAD_HANDLE);
    CHECK(talus_add_group_type(level, NULL) == TALUS_BAD_ARGUMENT);
    CHECK(talus_set_smooth_terrain(none, NULL, NULL, 0) == TALUS_BAD_HANDLE);
    CHECK(talus_set_smooth_terrain(level, NULL, NULL, 999) == TALUS_BAD_ARGUMENT);
    OK(talus_level_destroy(level));
}

int main(void) {
    settings_change_and_cap_a_collapse();
    what_is_protected_stays();
    a_build_is_assembled_worked_on_and_settles();
    a_type_decides();
    smooth_ground_is_dug_and_filled();
    bad_calls_are_errors();
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
