// What a block is made of and looks like, told from its name: our own table, used by make_blockgame_table.mjs.
// Rules are tried in order, the first that matches counts. Colours are what a block looks like from afar.

const kWoods = {
    // planks, log (bark), stripped log, leaves
    oak: ['#b08f58', '#6b5433', '#b39259', '#4f8a35'],
    spruce: ['#7a5a36', '#3f2a16', '#7a5d38', '#3e6345'],
    birch: ['#c9b67d', '#d8d5ca', '#c6b27a', '#6f9a4a'],
    jungle: ['#a87c55', '#57451d', '#ac8854', '#3d9428'],
    acacia: ['#ad6136', '#6a6359', '#b0623c', '#6d8f2e'],
    dark_oak: ['#4a3018', '#3d2f1c', '#5d4429', '#3f7a2b'],
    mangrove: ['#78393a', '#554530', '#7a3a36', '#5a8f33'],
    cherry: ['#e3b4ac', '#38222d', '#d99295', '#eba9c5'],
    pale_oak: ['#e4dad8', '#5a504c', '#f0e8e4', '#8c9486'],
    bamboo: ['#c4ae50', '#8b8f3e', '#c2ab4e', '#5a8f33'],
    crimson: ['#67344a', '#5f1d21', '#8a3a5b', '#7a0a0a'],
    warped: ['#2c6c64', '#3a3b4f', '#3b9795', '#178079'],
};
const kDyes = {
    // concrete, wool (and what is woven), terracotta
    white: ['#d2d7d9', '#eceef0', '#d2b3a3'],
    orange: ['#e16408', '#f07d1b', '#a45627'],
    magenta: ['#ab339f', '#c04bb5', '#97596d'],
    light_blue: ['#2b8bc8', '#40b2dc', '#726e8b'],
    yellow: ['#f0b11a', '#f9c82d', '#bc8728'],
    lime: ['#62ab1d', '#74bb1f', '#697737'],
    pink: ['#d7688f', '#ef92b1', '#a35050'],
    gray: ['#3a3d41', '#42494c', '#3b2c25'],
    light_gray: ['#808077', '#929289', '#89705f'],
    cyan: ['#1a798a', '#188c95', '#585c5d'],
    purple: ['#66239d', '#7d2fb0', '#784858'],
    blue: ['#303291', '#383da0', '#4c3e5d'],
    brown: ['#633d22', '#75492b', '#4f3526'],
    green: ['#4b5d27', '#577020', '#4e552d'],
    red: ['#922424', '#a42a26', '#913e30'],
    black: ['#0d0f14', '#191a1f', '#281a13'],
};
const kStones = [
    [/^(polished_)?granite/, '#9a6a58'],
    [/^(polished_)?diorite/, '#c2c2c4'],
    [/^(polished_)?andesite/, '#8a8b8b'],
    [/deepslate_tile|cracked_deepslate/, '#39393b'],
    [/deepslate_brick/, '#48484a'],
    [/deepslate/, '#515154'],
    [/mossy_cobblestone/, '#6f7a5f'],
    [/cobblestone/, '#7f7f7f'],
    [/mossy_stone_brick/, '#747b6a'],
    [/stone_brick/, '#7a797a'],
    [/smooth_stone/, '#9f9f9f'],
    [/red_sandstone/, '#b5621f'],
    [/sandstone/, '#d8cb9b'],
    [/red_nether_brick/, '#460709'],
    [/nether_brick/, '#2d171b'],
    [/mud_brick/, '#8b6a4f'],
    [/resin/, '#d9641c'],
    [/^(brick|bricks)($|_)/, '#976253'],
    [/quartz_ore|nether_gold_ore/, '#7a4140'],
    [/quartz/, '#ebe5de'],
    [/dark_prismarine/, '#345b4c'],
    [/prismarine_brick/, '#63ab9e'],
    [/prismarine/, '#639c97'],
    [/purpur/, '#a97da9'],
    [/end_stone|end_portal_frame/, '#dbdf9e'],
    [/polished_blackstone/, '#353039'],
    [/blackstone/, '#2a232a'],
    [/smooth_basalt/, '#48484e'],
    [/basalt/, '#505156'],
    [/tuff/, '#6c6d66'],
    [/calcite/, '#dfe0dc'],
    [/dripstone/, '#866b5c'],
    [/crying_obsidian/, '#200a3c'],
    [/obsidian/, '#120d1e'],
    [/bedrock/, '#555555'],
    [/netherrack|magma/, '#622626'],
    [/gilded/, '#3a2c27'],
    [/^infested_|^stone($|_)/, '#7f7f7f'],
];
const kCoppers = [
    [/oxidized/, '#52a384'],
    [/weathered/, '#6c9a6e'],
    [/exposed/, '#a17e68'],
    [/copper|lightning/, '#c06c50'],
];
const kOres = [
    [/coal_ore/, '#6a6a69'],
    [/iron_ore/, '#88817a'],
    [/copper_ore/, '#7d7a6e'],
    [/gold_ore/, '#918667'],
    [/redstone_ore/, '#8c6d6d'],
    [/lapis_ore/, '#6b768d'],
    [/diamond_ore/, '#798d8c'],
    [/emerald_ore/, '#6c8874'],
];
const kOthers = [
    [/grass_block/, '#6f9a45'],
    [/^(short_|tall_)?grass$|fern|seagrass|kelp|vine|lily_pad|stem$|sapling|propagule|bush|clover/, '#5b8c3a'],
    [/dry_grass|dead_bush/, '#a18a55'],
    [/moss/, '#5a6e2e'],
    [/podzol|grass_path|dirt_path/, '#8a6a3e'],
    [/mycelium/, '#6f6365'],
    [/farmland/, '#6b4a2e'],
    [/rooted_dirt|coarse_dirt/, '#7a5940'],
    [/dirt/, '#86603f'],
    [/packed_mud/, '#8e6b50'],
    [/mud/, '#3d3a3d'],
    [/clay/, '#a0a6b3'],
    [/red_sand/, '#be6621'],
    [/soul_s(and|oil)/, '#503e32'],
    [/sand/, '#dbcfa3'],
    [/gravel/, '#837f7e'],
    [/snow/, '#f5fbfb'],
    [/blue_ice/, '#74a8fd'],
    [/packed_ice/, '#8db4fb'],
    [/ice/, '#94b9fb'],
    [/bubble_column|water/, '#3f6fd8'],
    [/lava/, '#d8621a'],
    [/soul_(fire|campfire|torch|wall_torch|lantern)/, '#5fd6da'],
    [/^fire$|campfire/, '#e0872a'],
    [/redstone_(torch|wall_torch)/, '#d23a24'],
    [/torch/, '#f2c65a'],
    [/lantern|froglight|glowstone|shroomlight|lamp|^light$|end_rod|beacon/, '#e8c98a'],
    [/tinted_glass/, '#2d2a31'],
    [/glass/, '#cfe6ea'],
    [/hay|wheat/, '#b8991f'],
    [/pumpkin|jack_o/, '#c87818'],
    [/melon/, '#729a21'],
    [/cactus/, '#5a8232'],
    [/bamboo|sugar_cane/, '#77a63c'],
    [/carrots|potatoes|beetroots|crop|cocoa|torchflower/, '#7a9a3a'],
    [/dandelion|sunflower/, '#f0d32c'],
    [/poppy|rose|red_tulip|red_mushroom/, '#c9302c'],
    [/orchid|cornflower/, '#3f7fd0'],
    [/allium|lilac|pitcher/, '#b583d8'],
    [/orange_tulip/, '#e08a2c'],
    [/peony|pink_|spore_blossom/, '#e3a5c8'],
    [/tulip|daisy|bluet|lily/, '#dfe4da'],
    [/brown_mushroom/, '#957051'],
    [/mushroom_stem/, '#cbc4b9'],
    [/nether_wart_block|nether_wart|crimson/, '#73060a'],
    [/warped/, '#167e79'],
    [/shelf/, '#9a7a4c'],
    [/chest|crafting|barrel|loom|lectern|fletching|cartography|composter|beehive|note_block|jukebox|scaffolding|ladder/,
        '#9a7443'],
    [/smithing/, '#393b47'],
    [/bee_nest|honeycomb/, '#d69a35'],
    [/honey/, '#eda52e'],
    [/slime/, '#70c05b'],
    [/tnt/, '#c0402f'],
    [/wet_sponge/, '#abb546'],
    [/sponge/, '#c4c14c'],
    [/bone/, '#dedac4'],
    [/skull|head|flower_pot|potted|decorated_pot/, '#8f5a45'],
    [/gold|bell|light_weighted/, '#f1cd45'],
    [/netherite/, '#443e40'],
    [/ancient_debris/, '#60433b'],
    [/raw_iron/, '#a8896d'],
    [/raw_copper/, '#9a6a50'],
    [/shulker/, '#966a96'],
    [/^(wall_)?sign$/, '#9f7f4e'],
    [/creaking/, '#5a4a45'],
    [/lichen/, '#70837a'],
    [/iron_block|iron_door|iron_trapdoor|heavy_weighted/, '#dadada'],
    [/iron|rail|chain|hopper|cauldron|anvil|heavy_core|piston|dispenser|dropper|observer|furnace|smoker|grindstone|stonecutter|crafter|lever|tripwire|repeater|comparator|daylight|lodestone|spawner|vault/,
        '#77787a'],
    [/diamond/, '#62ece4'],
    [/emerald/, '#2ccb57'],
    [/lapis/, '#20428c'],
    [/redstone/, '#ab1a08'],
    [/coal/, '#131313'],
    [/amethyst/, '#8562bf'],
    [/sculk/, '#0d1e24'],
    [/chorus/, '#7a5a7a'],
    [/dried_ghast/, '#b5aeb0'],
    [/cobweb/, '#e6eaeb'],
    [/cake/, '#f0e3d0'],
    [/candle/, '#e6c99a'],
    [/enchanting|respawn/, '#3a2440'],
    [/dragon|end_gateway|end_portal/, '#0d0a14'],
    [/nether_portal/, '#6a1fb5'],
    [/command/, '#a8805f'],
    [/barrier|structure|jigsaw|test_/, '#9a7aa0'],
    [/turtle|sniffer/, '#d6d3b0'],
    [/frogspawn|conduit|sea_pickle/, '#8a8d5f'],
    [/target/, '#e2aca2'],
    [/brewing/, '#7b6551'],
    [/firefly|dripleaf|azalea|leaf|roots|sprouts|eyeblossom|petals|flower/, '#6f8f45'],
];
const kCorals = { tube: '#3158cf', brain: '#cf5b9e', bubble: '#a519a3', fire: '#a3232f', horn: '#d8c842' };

const first = (rules, name) => rules.find(([pattern]) => pattern.test(name))?.[1];
const dyeOf = (name) => Object.keys(kDyes).filter((d) => name.startsWith(d + '_')).sort((a, b) => b.length - a.length)[0];
const woodOf = (name) => Object.keys(kWoods)
    .filter((w) => name.startsWith(w + '_') || name.startsWith(`stripped_${w}_`))
    .sort((a, b) => b.length - a.length)[0];

/// Moves a colour towards another by a share.
function mixed(a, b, share) {
    const part = (c, k) => parseInt(c.slice(1 + 2 * k, 3 + 2 * k), 16);
    return '#' + [0, 1, 2].map((k) => Math.round(part(a, k) * (1 - share) + part(b, k) * share)
        .toString(16).padStart(2, '0')).join('');
}

export function colorOf(name) {
    const dye = dyeOf(name);
    if (dye && !/tulip|orchid|mushroom|nether|sand/.test(name.slice(dye.length))) {
        const [concrete, wool, terracotta] = kDyes[dye];
        const rest = name.slice(dye.length + 1);
        if (/^concrete$/.test(rest)) return concrete;
        if (/^concrete_powder$/.test(rest)) return mixed(concrete, '#ffffff', 0.15);
        if (/^terracotta$/.test(rest)) return terracotta;
        if (/^glazed_terracotta$/.test(rest)) return mixed(concrete, '#ffffff', 0.1);
        if (/glass/.test(rest)) return mixed(wool, '#ffffff', 0.2);
        if (/wool|carpet|bed|banner|shulker|candle/.test(rest)) return wool;
    }
    if (name === 'terracotta') return '#985e43';
    if (/coral/.test(name)) {
        const color = Object.entries(kCorals).find(([kind]) => name.includes(kind))[1];
        return name.startsWith('dead_') ? mixed(color, '#857f7a', 0.9) : color;
    }
    const wood = woodOf(name);
    if (wood && !/fungus|roots|nylium|wart|sapling|propagule|muddy/.test(name)) {
        const [planks, log, stripped, leaves] = kWoods[wood];
        if (/leaves/.test(name)) return leaves;
        if (/stripped/.test(name)) return stripped;
        if (/_(log|wood|stem|hyphae|block)$/.test(name)) return log;
        return /door|sign|mosaic|shelf/.test(name) ? mixed(planks, '#3a2a18', 0.15) : planks;
    }
    if (/mangrove_roots/.test(name)) return '#4a3b26';
    if (/leaves/.test(name)) return /flowering/.test(name) ? '#6a7f4a' : '#5a7f36';
    if (/petrified_oak/.test(name)) return kWoods.oak[0];
    return first(kOres, name) ?? (/copper|lightning_rod/.test(name) && !/raw/.test(name) ? first(kCoppers, name) : undefined) ??
        first(kStones, name) ?? first(kOthers, name) ?? '#8a8a8a';
}

/// The material class in the built-in set *real*.
const kClasses = [
    [/deepslate/, 'slate'],
    [/_ore$|ancient_debris|raw_|^mossy_|^infested_|command_block|petrified/, 'stone'],
    [/concrete_powder|^(suspicious_|red_)?sand$|gravel|soul_sand$/, 'sand'],
    [/concrete/, 'concrete'],
    [/terracotta|mud_brick|nether_brick|resin_|^bricks?($|_)|flower_pot|potted_|decorated_pot/, 'bricks'],
    [/leaves|wool|carpet|_bed$|hay|sponge|cobweb|kelp|moss|azalea|cake|banner|wart|leaf|dried_ghast/, 'leaves'],
    [/sea_lantern|glass|glowstone|froglight|beacon|redstone_lamp|amethyst_(cluster|bud)|conduit/, 'glass'],
    [/copper|lightning_rod/, 'copper'],
    [/iron|gold_block|netherite|rail|chain|hopper|cauldron|anvil|lantern|bell|weighted|heavy_core|diamond_block|emerald_block/,
        'steel'],
    [/planks|(oak|spruce|birch|jungle|acacia|cherry|mangrove|bamboo|mosaic|crimson|warped)_(stairs|slab|fence|fence_gate|door|trapdoor|pressure_plate|button|sign|wall_sign|hanging_sign|wall_hanging_sign|shelf)|bamboo_mosaic|bookshelf|chest$|barrel|crafting_table|loom|lectern|fletching|cartography|smithing|composter|beehive|note_block|jukebox|scaffolding|ladder|^sign$|^wall_sign$|piston|daylight/,
        'planks'],
    [/_log$|_wood$|_stem$|_hyphae$|bamboo|mangrove_roots|bee_nest|honeycomb|pumpkin|jack_o|melon|cactus|mushroom|chorus|shroomlight|campfire|tnt|cocoa|shulker|sapling|candle/,
        'wood'],
    [/red_sandstone|sandstone/, 'stone'],
    [/dirt|grass_block|podzol|mycelium|farmland|grass_path|clay|mud|soul_soil|sculk/, 'earth'],
    [/snow|ice$|slime|honey/, 'ice'],
    [/bone_block|skull|head|egg/, 'plaster'],
];
export const classOf = (name) => first(kClasses, name) ?? 'stone';

/// As the set *real* has it: a value that agrees is left out of the table.
export const kMaterialDefaults = {
    stone: { flammability: 0, soft: false }, bricks: { flammability: 0, soft: false },
    planks: { flammability: 0.5, soft: false }, plaster: { flammability: 0, soft: false },
    slate: { flammability: 0, soft: false }, copper: { flammability: 0, soft: false },
    wood: { flammability: 0.4, soft: false }, glass: { flammability: 0, soft: false },
    concrete: { flammability: 0, soft: false }, steel: { flammability: 0, soft: false },
    sand: { flammability: 0, soft: false }, earth: { flammability: 0, soft: false },
    ice: { flammability: 0, soft: false }, leaves: { flammability: 0.6, soft: true },
};
export function flammabilityOf(name, material) {
    if (/crimson|warped|nether_wart|wet_sponge|cactus|pumpkin|melon|mushroom|chorus|shroomlight|campfire|cake|muddy|jack_o|sponge|petrified|candle|shulker|piston/
        .test(name)) return 0;
    if (/tnt/.test(name)) return 1;
    if (/hay|bookshelf|dried_kelp/.test(name)) return 0.7;
    if (/^(short_|tall_)?grass$|fern|bush|vine|dry_grass|poppy|dandelion|tulip|allium|bluet|orchid|daisy|cornflower|lily_of|sunflower|lilac|rose|peony/
        .test(name)) return 0.8;
    return kMaterialDefaults[material].flammability;
}

// Boxes, in sixteenths, of what has no collision: only drawn and hit by rays.
const kPlate = {  // against the neighbour on that side
    north: [0, 0, 0, 16, 16, 1], south: [0, 0, 15, 16, 16, 16], west: [0, 0, 0, 1, 16, 16],
    east: [15, 0, 0, 16, 16, 16], down: [0, 0, 0, 16, 1, 16], up: [0, 15, 0, 16, 16, 16],
};
const kBehind = { north: 'south', south: 'north', west: 'east', east: 'west' };
/// A box given against the north side, turned to another side about the vertical axis.
function turned([x0, y0, z0, x1, y1, z1], side) {
    if (side === 'south') return [16 - x1, y0, 16 - z1, 16 - x0, y1, 16 - z0];
    if (side === 'west') return [z0, y0, 16 - x1, z1, y1, 16 - x0];
    if (side === 'east') return [16 - z1, y0, x0, 16 - z0, y1, x1];
    return [x0, y0, z0, x1, y1, z1];
}
export function ghostBoxes(name, state) {
    const s = (boxes) => boxes.map((b) => b.map((v) => v / 16));
    const behind = kBehind[state.facing];
    if (/^(light|structure_void|barrier|end_gateway|moving_piston)$/.test(name)) return [];
    if (/wall_torch/.test(name)) return s([turned([7, 3, 0, 9, 13, 3], behind)]);
    if (/torch$/.test(name)) return s([[7, 0, 7, 9, 10, 9]]);
    if (/wall_hanging_sign|hanging_sign/.test(name)) return s([[1, 0, 7, 15, 10, 9]]);
    if (/wall_sign|wall_banner|wall_fan/.test(name)) {
        return s([turned(/banner/.test(name) ? [1, 0, 0, 15, 13, 1] : [0, 4, 0, 16, 12, 2], behind)]);
    }
    if (/banner/.test(name)) return s([[1, 2, 7, 15, 16, 9], [7, 0, 7, 9, 2, 9]]);
    if (/sign$/.test(name)) return s([[1, 8, 7, 15, 16, 9], [7, 0, 7, 9, 8, 9]]);
    if (/pressure_plate/.test(name)) return s([[1, 0, 1, 15, 1, 15]]);
    if (/button|lever/.test(name)) {
        if (state.face === 'wall') return s([turned([5, 6, 0, 11, 10, 2], behind)]);
        return s([state.face === 'ceiling' ? [5, 14, 6, 11, 16, 10] : [5, 0, 6, 11, 2, 10]]);
    }
    if (/tripwire_hook/.test(name)) return s([turned([6, 1, 0, 10, 9, 4], behind)]);
    if (/rail|redstone_wire|carpet|frogspawn|petals|wildflowers|leaf_litter|end_portal/.test(name)) return s([kPlate.down]);
    if (/tripwire/.test(name)) return s([[0, 1, 7, 16, 2, 9]]);
    if (/vine$|glow_lichen|sculk_vein|resin_clump|^fire$|^soul_fire$/.test(name)) {
        const sides = Object.keys(kPlate).filter((side) => state[side] === 'true');
        if (sides.length) return s(sides.map((side) => kPlate[side]));
        return s(/fire/.test(name) ? [[1, 0, 1, 15, 12, 15]] : [[6, 0, 6, 10, 16, 10]]);
    }
    if (/^(water|lava)$/.test(name)) {
        const level = Number(state.level);
        return s([[0, 0, 0, 16, level >= 8 ? 16 : 14 - 1.5 * level, 16]]);
    }
    if (/bubble_column|powder_snow/.test(name)) return s([[0, 0, 0, 16, 16, 16]]);
    if (/nether_portal/.test(name)) return s([state.axis === 'x' ? [0, 0, 6, 16, 16, 10] : [6, 0, 0, 10, 16, 16]]);
    if (/cobweb/.test(name)) return s([[3, 3, 3, 13, 13, 13]]);
    if (/^snow$/.test(name)) return s([[0, 0, 0, 16, 2, 16]]);
    if (/fence_gate/.test(name)) {  // open: two wings
        return s(/north|south/.test(state.facing) ? [[0, 5, 7, 2, 16, 16], [14, 5, 7, 16, 16, 16]]
            : [[7, 5, 0, 16, 16, 2], [7, 5, 14, 16, 16, 16]]);
    }
    if (/tall_|kelp|large_fern|sugar_cane|vines|hanging_|rose_bush|peony|lilac|sunflower|_plant$/.test(name)) {
        return s([[4, 0, 4, 12, 16, 12]]);
    }
    if (/sapling|fern|grass|bush|wheat|coral|sprouts|roots|fungus/.test(name)) return s([[3, 0, 3, 13, 11, 13]]);
    return s([[5, 0, 5, 11, 10, 11]]);
}
