// Writes data/blockgame.json, the built-in block table, from the npm package minecraft-data (MIT, PrismarineJS):
//
//     cd tools && npm ci && node make_blockgame_table.mjs [--check]
//
// With --check it writes nothing and exits 1 where the file is not what it would write.
// From the package: names, hardness, blast resistance and collision boxes per state of every block since 1.13
// (the newest version that knows a name counts). From block_looks.mjs beside this file: material class, colour,
// flammability, and the boxes of what has no collision. The format is docs/formats/materials.md. The output is
// the same bytes on every run; commit it together with a change here.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { classOf, colorOf, flammabilityOf, ghostBoxes, kMaterialDefaults } from './block_looks.mjs';

const require = createRequire(import.meta.url);
const data = require('minecraft-data');
const version = require('minecraft-data/package.json').version;

const kAir = new Set(['air', 'cave_air', 'void_air', 'structure_void']);
const kFull = '[[0,0,0,1,1,1]]';

const round = (v) => Math.round(v * 1e6) / 1e6;

/// Collision boxes of the package, cut to the cell (a fence is 1.5 high), without empty ones, in a fixed order.
function clipped(boxes) {
    const out = boxes.map((b) => b.map((v) => round(Math.min(1, Math.max(0, v)))))
        .filter((b) => b[0] < b[3] && b[1] < b[4] && b[2] < b[5]);
    const keys = [...new Set(out.map((b) => JSON.stringify(b)))].sort();
    return keys.map((k) => JSON.parse(k));
}

const shapes = [];
const shapeIndex = new Map();
function indexOf(shape) {
    const key = JSON.stringify(shape);
    if (!shapeIndex.has(key)) {
        shapeIndex.set(key, shapes.length);
        shapes.push(key);
    }
    return shapeIndex.get(key);
}
indexOf(JSON.parse(kFull));

const valuesOf = (p) => p.type === 'bool' ? ['true', 'false']
    : p.values ? p.values.map(String) : [...Array(p.num_values).keys()].map(String);

/// Per state a shape; then every property whose value never changes the shape is left out.
function shapesOf(block, collision) {
    let props = block.states.map((p) => ({ name: p.name, values: valuesOf(p) }));
    const count = props.reduce((n, p) => n * p.values.length, 1);
    const ofState = collision.blocks[block.name];
    let table = [];
    for (let i = 0; i < count; i++) {
        const state = {};
        let rest = i;
        for (const p of [...props].reverse()) {  // the last property changes fastest
            state[p.name] = p.values[rest % p.values.length];
            rest = Math.floor(rest / p.values.length);
        }
        const id = Array.isArray(ofState) ? ofState[i] : ofState;
        if (id === undefined) throw new Error(`${block.name}: no collision shape for state ${i}`);
        const boxes = clipped(collision.shapes[id]);
        table.push(indexOf(boxes.length ? boxes : { ghost: clipped(ghostBoxes(block.name, state)) }));
    }
    let initial = block.defaultState - block.minStateId;
    for (let k = props.length - 1; k >= 0; k--) {
        const stride = props.slice(k + 1).reduce((n, p) => n * p.values.length, 1);
        const n = props[k].values.length;
        const digit = (i) => Math.floor(i / stride) % n;
        if (table.some((s, i) => s !== table[i - digit(i) * stride])) continue;
        const without = (i) => Math.floor(i / (stride * n)) * stride + i % stride;
        initial = without(initial);
        table = table.filter((_, i) => digit(i) === 0);
        props = props.filter((_, i) => i !== k);
    }
    return { props, table, initial };
}

const blocks = new Map();
const versions = [...new Set(data.supportedVersions.pc)].reverse();
for (const v of versions.slice(0, versions.indexOf('1.13') + 1)) {
    const pc = data(v);
    if (!pc?.blocksArray) continue;
    for (const block of pc.blocksArray) {
        if (blocks.has(block.name) || kAir.has(block.name)) continue;
        const { props, table, initial } = shapesOf(block, pc.blockCollisionShapes);
        const solid = table.some((s) => !shapes[s].startsWith('{'));
        const name = block.name;
        const material = classOf(name);
        const base = kMaterialDefaults[material];
        const entry = { material };
        const differs = (key, value) => { if (value !== base[key]) entry[key] = value; };
        entry.hardness = block.hardness === null ? -1 : round(block.hardness);
        entry.blast_resistance = round(block.resistance);
        differs('flammability', flammabilityOf(name, material));
        differs('soft', name.endsWith('_leaves'));
        if (!solid) entry.solid = false;
        entry.color = colorOf(name);
        if (props.length) {
            entry.states = props.map((p) => [p.name, p.values]);
            entry.state_shapes = table;
            entry.default_state = initial;
        } else if (shapes[table[0]] !== kFull) {
            entry.shape = table[0];
        }
        blocks.set(name, entry);
    }
}

const names = [...blocks.keys()].sort();
const lines = names.map((n) => `  ${JSON.stringify(n)}: ${JSON.stringify(blocks.get(n))}`);
const about = `Block names, hardness, blast resistance and collision boxes from minecraft-data ${version} ` +
    '(https://www.npmjs.com/package/minecraft-data), MIT licence, PrismarineJS. Written by ' +
    'tools/make_blockgame_table.mjs; format in docs/formats/materials.md.';
const file = new URL('../data/blockgame.json', import.meta.url);
const text = `{\n"about": ${JSON.stringify(about)},\n"base": "empty",\n"shapes": [\n  ${shapes.join(',\n  ')}\n],\n` +
    `"blocks": {\n${lines.join(',\n')}\n}\n}\n`;
if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
    console.error('data/blockgame.json is not what this tool writes: run it without --check and look at the change');
    process.exit(1);
}
console.log(`${names.length} blocks, ${shapes.length} shapes`);
