/* check.h - what the C tests count and report. */
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
