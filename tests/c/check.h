/* check.h - what the C tests count and report, and a level to start from. */
#pragma once

#include "talus_c.h"

#include <stdio.h>

static int checks = 0, failures = 0;

#define CHECK(condition)                                                                             \
    do {                                                                                             \
        checks++;                                                                                    \
        if (!(condition)) {                                                                          \
            failures++;                                                                              \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, talus_last_error()); \
        }                                                                                            \
    } while (0)

#define OK(call) CHECK((call) == TALUS_OK)

/* With a floor at 0; stone of 775 kg a block and strength 1. */
static inline talus_level stone_level(talus_block* stone) {
    talus_level_settings settings;
    talus_material material;
    talus_level level = 0;
    OK(talus_level_settings_init(&settings, sizeof settings));
    settings.has_ground = 1;
    OK(talus_level_create(&settings, &level));
    OK(talus_material_find("stone", &material, sizeof material));
    material.hardness = 1.5;
    material.density = 775;
    OK(talus_define_block(level, &material, stone));
    return level;
}

static inline void run(talus_level level, int ticks) {
    while (ticks-- > 0) OK(talus_tick(level));
}
