/* talus_c.h - one world of blocks for programs in C, or in any language that calls C.
 *
 * Every function returns a talus_status and gives results through pointers; talus_last_error() says more, for
 * the calling thread. Null pointers, bad handles and numbers without sense are errors, never a crash. A level
 * belongs to one thread at a time; different levels may be used at once.
 * Ownership: a level lives from talus_level_create() to talus_level_destroy(); everything else is copied.
 * Strings given out live as long as the library, that of talus_last_error() until the thread's next call.
 * Structs that may grow begin with `size`: fill them with their ..._init(), which sets it and the defaults.
 * SI units, right-handed, +Y up; quaternions x, y, z, w; cells and positions x, y, z.
 * Tests: tests/c/ */
#ifndef TALUS_C_H
#define TALUS_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TALUS_C_API __attribute__((visibility("default")))
#else
#define TALUS_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t talus_status;
enum {
    TALUS_OK = 0,
    TALUS_BAD_HANDLE = 1,   /* no such level, or it was destroyed */
    TALUS_BAD_ARGUMENT = 2, /* a null pointer, or a number outside its range */
    TALUS_NOT_FOUND = 3,    /* no such group or name */
    TALUS_TOO_LARGE = 4,    /* over a limit: the table of blocks, the extent of a group */
    TALUS_NO_MEMORY = 5,
    TALUS_BAD_DATA = 6 /* bytes that are damaged, of a newer version, or something else */
};

typedef uint64_t talus_level; /* 0 is no level */
typedef uint16_t talus_block; /* of one level; 0 is air */
typedef struct talus_group {
    uint32_t index, generation; /* 0, 0 is no group */
} talus_group;

/* "1.2.3" */
TALUS_C_API const char* talus_version(void);
TALUS_C_API const char* talus_status_text(talus_status status);
/* What went wrong in this thread's last call; "" when nothing did. */
TALUS_C_API const char* talus_last_error(void);

typedef struct talus_level_settings {
    size_t size;
    double cell_size; /* metres */
    double gravity[3];
    uint64_t seed;
    int32_t ticks_per_second;
    int32_t has_ground; /* a flat floor at height `ground` */
    double ground;
    double floor;                 /* groups 64 cells below it are removed */
    int32_t collapse;             /* structural checks */
    int32_t structure_mode;       /* TALUS_MODE_... */
    double strength_factor;       /* on every block's strength */
    double impact_speed;          /* m/s above which a hit wears blocks */
    int32_t debris_max_blocks;    /* pieces of at most so many blocks crumble ... */
    int32_t debris_ticks;         /* ... after so many ticks asleep; 0: never */
    int32_t debris_max_groups;    /* beyond, the longest asleep crumble at once; 0: no limit */
    int32_t structures_grow;      /* a block put into the terrain joins the structure it touches */
    int32_t collapse_max_pieces;  /* new groups of one collapse, largest first; 0: no cap */
    int32_t collapse_max_blocks;  /* blocks that one collapse sets moving; 0: no cap */
    int32_t beyond_cap;           /* TALUS_BEYOND_... */
    int32_t work_per_tick;        /* blocks that checks may copy and set moving in a tick; 0: no limit */
    int32_t structure_max_solids; /* bigger groups are not judged */
    double structure_max_tilt;    /* degrees: groups that lean more are not judged */
} talus_level_settings;
enum { TALUS_MODE_LOAD = 0, TALUS_MODE_PHYSICAL = 1 };
enum { TALUS_BEYOND_CRUMBLES = 0, TALUS_BEYOND_STAYS = 1 };
/* size: sizeof(talus_level_settings) of the caller */
TALUS_C_API talus_status talus_level_settings_init(talus_level_settings* settings, size_t size);

/* settings may be null: the defaults */
TALUS_C_API talus_status talus_level_create(const talus_level_settings* settings, talus_level* level);
TALUS_C_API talus_status talus_level_destroy(talus_level level);
TALUS_C_API talus_status talus_get_settings(talus_level level, talus_level_settings* settings, size_t size);
/* From now on; cell_size and seed stay as they are. */
TALUS_C_API talus_status talus_change_settings(talus_level level, const talus_level_settings* settings);

typedef struct talus_material {
    size_t size;
    const char* name;
    double density, hardness, blast_resistance, friction, restitution, flammability;
    int32_t solid, soft, floats;
    uint32_t color;                                   /* 0xRRGGBB */
    double stiffness, tension, compression, cohesion; /* Pa */
} talus_material;
TALUS_C_API talus_status talus_material_init(talus_material* material, size_t size);
/* One of the built-in set: "stone", "bricks", "planks", "glass", "concrete", "steel", ... */
TALUS_C_API talus_status talus_material_find(const char* name, talus_material* material, size_t size);
/* A full cube of the material; the same material gives the same block. */
TALUS_C_API talus_status talus_define_block(talus_level level, const talus_material* material,
                                            talus_block* block);

TALUS_C_API talus_status talus_set_terrain(talus_level level, const int32_t cell[3], talus_block block);
TALUS_C_API talus_status talus_get_terrain(talus_level level, const int32_t cell[3], talus_block* block);

typedef struct talus_group_settings {
    size_t size;
    double position[3], rotation[4];
    double velocity[3], spin[3];
    int32_t bears_load; /* judged by the structural check */
    int32_t asleep;
    const char* type; /* of talus_add_group_type; null: plain */
} talus_group_settings;
TALUS_C_API talus_status talus_group_settings_init(talus_group_settings* settings, size_t size);

/* cells: 3 * count numbers, each within -65536 .. 65535; blocks: count, none of them air. Of a cell that
 * comes twice the later block counts. settings may be null. */
TALUS_C_API talus_status talus_add_group(talus_level level, const talus_group_settings* settings,
                                         const int32_t* cells, const talus_block* blocks, size_t count,
                                         talus_group* group);

/* A block leaves a group or the terrain, as mined: with its drop; splitting and the structural check follow
 * in the next tick. TALUS_NOT_FOUND when there is none or it may not leave. */
TALUS_C_API talus_status talus_remove_block(talus_level level, talus_group group, const int32_t cell[3]);
TALUS_C_API talus_status talus_break_terrain(talus_level level, const int32_t cell[3]);
/* TALUS_BAD_ARGUMENT when the cell is taken or too far out. */
TALUS_C_API talus_status talus_place_block(talus_level level, talus_group group, const int32_t cell[3],
                                           talus_block block);

TALUS_C_API talus_status talus_remove_group(talus_level level, talus_group group);
/* Share of a block's life used, 0 to 1. group 0, 0: a terrain block of a structure; others do not wear. */
TALUS_C_API talus_status talus_wear_of(talus_level level, talus_group group, const int32_t cell[3],
                                       double* wear);
/* amount: 0 to 1. *worn_through, which may be null, is 1 when it is: the caller removes the block. */
TALUS_C_API talus_status talus_wear_down(talus_level level, talus_group group, const int32_t cell[3],
                                         double amount, int32_t* worn_through);

/* Terrain that bears load where it is. */
typedef struct talus_structure {
    uint32_t index, generation; /* 0, 0 is no structure */
} talus_structure;
/* The terrain's blocks from cell min to cell max, both included. TALUS_NOT_FOUND when no solid is there. */
TALUS_C_API talus_status talus_mark_structure(talus_level level, const int32_t min[3], const int32_t max[3],
                                              talus_structure* structure);
TALUS_C_API talus_status talus_unmark_structure(talus_level level, talus_structure structure);
/* Asks for a structural check; its answer is applied at a later tick. */
TALUS_C_API talus_status talus_check_structure(talus_level level, talus_structure structure);
TALUS_C_API talus_status talus_check_group(talus_level level, talus_group group);

/* One terrain block becomes a group that bears load. TALUS_NOT_FOUND when it cannot move, likewise below. */
TALUS_C_API talus_status talus_physicify(talus_level level, const int32_t cell[3], talus_group* group);
/* The build joined to a terrain block within min to max, of at most max_blocks, becomes a group. */
TALUS_C_API talus_status talus_assemble(talus_level level, const int32_t cell[3], const int32_t min[3],
                                        const int32_t max[3], uint64_t max_blocks, int32_t bears_load,
                                        talus_group* group);

enum {
    TALUS_SETTLED = 0,
    TALUS_SETTLE_MOVING = 2,      /* not at rest */
    TALUS_SETTLE_TILTED = 3,      /* no axis of it along the terrain's, or between two cells */
    TALUS_SETTLE_TAKEN = 4,       /* terrain is in the way */
    TALUS_SETTLE_CANNOT_TURN = 5, /* a block's state does not exist that way up */
    TALUS_SETTLE_REFUSED = 6      /* by its type */
};
typedef struct talus_settle_settings {
    size_t size;
    double max_tilt;       /* degrees from the nearest of the 24 ways to lie */
    double max_offset;     /* cells, of any of its blocks */
    int32_t drop_the_rest; /* blocks with something in their way become drops */
} talus_settle_settings;
TALUS_C_API talus_status talus_settle_settings_init(talus_settle_settings* settings, size_t size);
typedef struct talus_settle_report {
    size_t size;
    int32_t outcome; /* TALUS_SETTLE... */
    uint64_t placed, dropped;
} talus_settle_report;
/* A group that rests aligned with the terrain becomes terrain. settings may be null. A refusal is TALUS_OK
 * too. */
TALUS_C_API talus_status talus_settle(talus_level level, talus_group group,
                                      const talus_settle_settings* settings, talus_settle_report* report,
                                      size_t size);

/* Nothing breaks a block whose centre is inside but talus_set_terrain; a collapse leaves it where it is. */
TALUS_C_API talus_status talus_protect(talus_level level, const double min[3], const double max[3],
                                       uint32_t* number);
TALUS_C_API talus_status talus_unprotect(talus_level level, uint32_t number);
/* Makes a group debris that crumbles after so many ticks asleep, whatever its size; 0: never. */
TALUS_C_API talus_status talus_set_debris(talus_level level, talus_group group, int32_t ticks);

/* What a part that came off becomes; filled in with the usual. */
typedef struct talus_piece {
    size_t size;
    uint64_t blocks;
    int32_t slippery, is_debris, bears_load;
} talus_piece;
/* A kind of groups, with what it decides for its own; any function may be null: the usual. They are called
 * inside talus_tick or the call that caused them, and may call the level, but inside of a tick neither
 * talus_tick, talus_level_destroy, talus_snapshot_take nor talus_recording_start (TALUS_BAD_ARGUMENT). Of a
 * structure the group is 0, 0. */
typedef struct talus_group_type {
    size_t size;
    const char* name;
    void* context;
    /* Strength of a block, for its bonds and against hits; stone is 1. */
    double (*bond_strength)(void* context, talus_group group, const int32_t cell[3], double usual);
    void (*new_piece)(void* context, talus_group from, talus_piece* piece);
    void (*on_awake)(void* context, talus_group group);    /* every tick while awake */
    void (*on_end_tick)(void* context, talus_group group); /* every tick */
    int32_t (*may_settle)(void* context, talus_group group);
    /* No solid is left. Not 0: what is left goes without drops. */
    int32_t (*no_solids_left)(void* context, talus_group group);
    int32_t (*bears_load)(void* context, talus_group group, int32_t usual);
    /* Bonds broke in a collapse: 6 numbers each, the cells of both ends. Not 0: shown and heard already. */
    int32_t (*on_bonds_broken)(void* context, talus_group group, const int32_t* bonds, size_t count);
    /* Wear of a block that a blast reached but did not break; share of what would break it. */
    double (*blast_wear)(void* context, talus_group group, const int32_t cell[3], double share, double usual);
    void (*on_pose)(void* context, talus_group group, const double position[3], const double rotation[4]);
    void (*on_settle)(void* context, talus_group group); /* every tick, after what fell came off */
} talus_group_type;
/* Sets all but `size` to null. */
TALUS_C_API talus_status talus_group_type_init(talus_group_type* type, size_t size);
/* Copied, but for the context. Of a name that is there already the later counts. */
TALUS_C_API talus_status talus_add_group_type(talus_level level, const talus_group_type* type);

/* Smooth ground beside the blocks: `sample` tells how far the corner (x, y, z) of cells is inside the ground,
 * in metres, and always tells the same; null: none but what talus_fill makes. block: what it is made of; 0:
 * no smooth ground any more. */
typedef float (*talus_density)(void* context, int32_t x, int32_t y, int32_t z);
TALUS_C_API talus_status talus_set_smooth_terrain(talus_level level, talus_density sample, void* context,
                                                  talus_block block);
/* A ball of ground is taken away or put there. TALUS_TOO_LARGE when it is larger than can be done at once. */
TALUS_C_API talus_status talus_dig(talus_level level, const double center[3], double radius);
TALUS_C_API talus_status talus_fill(talus_level level, const double center[3], double radius);

/* An explosion of the given power (TNT 4). destroyed and removed, in blocks, may be null. */
TALUS_C_API talus_status talus_blast(talus_level level, const double center[3], double power,
                                     uint64_t* destroyed);
/* Removes every block whose centre is inside the box. */
TALUS_C_API talus_status talus_carve_box(talus_level level, const double min[3], const double max[3],
                                         uint64_t* removed);
TALUS_C_API talus_status talus_carve_sphere(talus_level level, const double center[3], double radius,
                                            uint64_t* removed);
TALUS_C_API talus_status talus_carve_capsule(talus_level level, const double from[3], const double to[3],
                                             double radius, uint64_t* removed);
TALUS_C_API talus_status talus_tick(talus_level level);

enum {
    TALUS_EVENT_GROUP_ADDED = 0,   /* group; parent or structure it came off, if any */
    TALUS_EVENT_GROUP_REMOVED = 1, /* group */
    TALUS_EVENT_GROUP_BLOCK = 2,   /* group, cell, block (0 when removed) */
    TALUS_EVENT_TERRAIN_BLOCK = 3, /* cell, block */
    TALUS_EVENT_BONDS_BROKEN = 4,  /* group or structure, point of one; value: how many (talus_event_bonds) */
    TALUS_EVENT_DUST = 5,          /* group or structure, cell, block, point: of at most eight broken bonds */
    TALUS_EVENT_SOUND = 6,         /* likewise, of at most three */
    TALUS_EVENT_BLOCK_DESTROYED = 7, /* group (or none: terrain), cell, block that it was, cause, point */
    TALUS_EVENT_DROP = 8,            /* block to pick up, cause, point */
    TALUS_EVENT_IMPACT = 9,         /* group, block, other_block (0: the floor), point, value: impulse, N s */
    TALUS_EVENT_BLAST = 10,         /* point, value: power */
    TALUS_EVENT_DEBRIS_GONE = 11,   /* group, point, value: blocks that crumbled away */
    TALUS_EVENT_SMOOTH_TERRAIN = 13 /* cells from `cell` to `last` have another surface */
};
enum {
    TALUS_CAUSE_MINED = 0,
    TALUS_CAUSE_BLAST = 1,
    TALUS_CAUSE_IMPACT = 2,
    TALUS_CAUSE_CARVE = 3,
    TALUS_CAUSE_FIRE = 4,
    TALUS_CAUSE_COLLAPSE = 5,
    TALUS_CAUSE_DEBRIS = 6,
    TALUS_CAUSE_SCRIPT = 7
};
typedef struct talus_event {
    size_t size;
    int32_t kind, cause; /* TALUS_EVENT_..., TALUS_CAUSE_... */
    talus_group group, parent;
    talus_structure structure;
    int32_t cell[3], last[3]; /* of the group or the terrain */
    talus_block block, other_block;
    double point[3], value;
} talus_event;
/* Not 0: events are kept from now on until talus_clear_events(). Else a tick forgets them: a new level does.
 */
TALUS_C_API talus_status talus_keep_events(talus_level level, int32_t keep);
TALUS_C_API talus_status talus_clear_events(talus_level level);
TALUS_C_API talus_status talus_event_count(talus_level level, size_t* count);
/* Of number 0 to count - 1, in order. TALUS_NOT_FOUND beyond. */
TALUS_C_API talus_status talus_event_get(talus_level level, size_t number, talus_event* event, size_t size);
/* The pairs of cells of an event of broken bonds, 6 numbers each; none of others. Like talus_group_ids. */
TALUS_C_API talus_status talus_event_bonds(talus_level level, size_t number, int32_t* cells, size_t capacity,
                                           size_t* count);

TALUS_C_API talus_status talus_group_count(talus_level level, size_t* count);
/* Fills at most `capacity` entries, in the order of ids; *count is how many there are. groups may be null
 * when capacity is 0. */
TALUS_C_API talus_status talus_group_ids(talus_level level, talus_group* groups, size_t capacity,
                                         size_t* count);

typedef struct talus_group_info {
    size_t size;
    double position[3], rotation[4]; /* of the frame of the group's cells */
    double velocity[3], spin[3];
    double mass;
    uint64_t blocks;
    int32_t asleep, bears_load;
} talus_group_info;
/* size: sizeof(talus_group_info) of the caller */
TALUS_C_API talus_status talus_group_get(talus_level level, talus_group group, talus_group_info* info,
                                         size_t size);
/* Like talus_group_ids: cells gets 3 * capacity numbers. Either array may be null. */
TALUS_C_API talus_status talus_group_blocks(talus_level level, talus_group group, int32_t* cells,
                                            talus_block* blocks, size_t capacity, size_t* count);

enum {
    TALUS_HIT_NOTHING = 0,
    TALUS_HIT_TERRAIN = 1,
    TALUS_HIT_GROUP = 2,
    TALUS_HIT_GROUND = 3,
    TALUS_HIT_SMOOTH = 4 /* smooth ground: `cell` is the one the point lies in, `normal` is zero */
};
typedef struct talus_ray_hit {
    size_t size;
    int32_t kind; /* TALUS_HIT_... */
    talus_group group;
    int32_t cell[3], normal[3]; /* in the frame of the group or the terrain */
    double point[3];
    double distance;
} talus_ray_hit;
/* max_distance: up to 1e6 metres. No hit is TALUS_OK too. */
TALUS_C_API talus_status talus_cast_ray(talus_level level, const double origin[3], const double direction[3],
                                        double max_distance, talus_ray_hit* hit, size_t size);

typedef struct talus_level_stats {
    size_t size;
    uint64_t tick, groups, awake, blocks, destroyed, fallen_out;
    uint64_t structures, drops;
} talus_level_stats;
TALUS_C_API talus_status talus_stats(talus_level level, talus_level_stats* stats, size_t size);
/* Equal levels have equal hashes, on every machine. */
TALUS_C_API talus_status talus_hash(talus_level level, uint64_t* hash);

/* Takes bytes where the caller wants them, in order; copy what is to be kept. 0: that is enough. */
typedef int (*talus_write)(void* context, const uint8_t* bytes, size_t size);
/* The whole level as bytes, to go on from with the same bits (docs/formats/snapshot.md). It changes nothing.
 * TALUS_TOO_LARGE when `write` says that is enough before the end. */
TALUS_C_API talus_status talus_snapshot_take(talus_level level, talus_write write, void* context);
/* A level of its own, to be destroyed like one that was created. TALUS_BAD_DATA for one taken with samples of
 * smooth ground; groups of its types are plain until those are added. */
TALUS_C_API talus_status talus_snapshot_restore(const uint8_t* bytes, size_t size, talus_level* level);

/* From now on every call that changes the level is written down, each before it is made (docs/REPLAY.md).
 * `context` must live until talus_recording_stop() or the level's end. When `write` says that is enough the
 * recording ends, and the level goes on. */
TALUS_C_API talus_status talus_recording_start(talus_level level, talus_write write, void* context);
TALUS_C_API talus_status talus_recording_stop(talus_level level);

enum { TALUS_REPLAY_SAME = 0, TALUS_REPLAY_DIFFERS = 1 };
typedef struct talus_replay_report {
    size_t size;
    int32_t outcome;     /* TALUS_REPLAY_... */
    uint64_t first_tick; /* of the level when the recording began */
    uint64_t tick;       /* the last that was run, or the first that differs */
    uint64_t calls;      /* besides ticks */
    uint64_t hash, recorded_hash;
    char what[256]; /* that differs, in words */
} talus_replay_report;
/* Makes the recorded calls again and compares the hash of each tick. TALUS_BAD_DATA where the recording
 * cannot be read; the report is then of what came before. size: sizeof(talus_replay_report) of the caller */
TALUS_C_API talus_status talus_replay(const uint8_t* bytes, size_t bytes_size, talus_replay_report* report,
                                      size_t size);

#ifdef __cplusplus
}
#endif

#endif
