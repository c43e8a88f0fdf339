// harness.ts - the page without a server: a town, or ?pieces=N moving pieces (&still: at rest), from the core's double.
import { App } from '../src/app';
import type { Socket } from '../src/connection';
import { CoreDouble } from './core_double';
import { Voxels } from './voxels';

const query = new URLSearchParams(location.search);
const core = new CoreDouble();

let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 4294967296;
}

function house(v: Voxels, x: number, z: number, w: number, d: number, h: number, wall: number, roof: number): void {
  v.box(x, 0, z, x + w, 0, z + d, 0x8d8a84);
  for (let y = 1; y <= h; y++) {
    v.box(x, y, z, x + w, y, z, wall);
    v.box(x, y, z + d, x + w, y, z + d, wall);
    v.box(x, y, z, x, y, z + d, wall);
    v.box(x + w, y, z, x + w, y, z + d, wall);
    if (y % 4 === 2 || y % 4 === 3) {
      for (let i = 2; i < w - 1; i += 3) for (const side of [z, z + d]) {
        v.set(x + i, y, side, 0x9fc4d6);
      }
      for (let i = 2; i < d - 1; i += 3) for (const side of [x, x + w]) v.set(side, y, z + i, 0x9fc4d6);
    }
    if (y % 4 === 0) v.box(x, y, z, x + w, y, z + d, 0xb08a5a);
    for (const cx of [x, x + w]) for (const cz of [z, z + d]) v.set(cx, y, cz, 0x6e4f33);
  }
  for (let i = 0; i * 2 <= w + 2; i++) {
    v.box(x - 1 + i, h + 1 + i, z - 1, x - 1 + i, h + 1 + i, z + d + 1, roof);
    v.box(x + w + 1 - i, h + 1 + i, z - 1, x + w + 1 - i, h + 1 + i, z + d + 1, roof);
    if (i > 0) {
      for (const side of [z, z + d]) if (x - 1 + i < x + w + 1 - i) v.box(x + i, h + i, side, x + w - i, h + i, side, wall);
    }
  }
}

function town(): void {
  const town = new Voxels();
  house(town, -22, -14, 10, 8, 8, 0xd9cdb8, 0x8e3f2f);
  house(town, -6, -18, 8, 9, 12, 0xb8664c, 0x4a5560);
  house(town, 10, -14, 12, 8, 8, 0xe2d6c0, 0x8e3f2f);
  house(town, -24, 4, 9, 10, 8, 0xc9b28a, 0x5b4636);
  house(town, 14, 6, 9, 9, 4, 0xd8d2c8, 0x9a4a35);
  town.box(-3, 0, 2, 3, 26, 8, 0x9a978f);
  for (let y = 1; y < 27; y++) for (let z = 3; z < 8; z++) for (let x = -2; x < 3; x++) town.clear(x, y, z);
  for (let y = 3; y < 26; y += 5) for (const [x, z] of [[0, 2], [0, 8], [-3, 5], [3, 5]] as const) {
    town.clear(x, y, z);
    town.clear(x, y + 1, z);
  }
  for (const [x, z] of [[-3, 2], [3, 2], [-3, 8], [3, 8], [0, 2], [0, 8], [-3, 5], [3, 5]] as const) town.set(x, 27, z, 0x8b8880);
  core.addGroup({ id: 1, mesh: town.mesh(), pose: () => [0, 0, 0, 0, 0, 0, 1] });
  // Rubble around a place.
  for (let i = 0; i < 160; i++) {
    const v = new Voxels();
    const color = [0x9a978f, 0xb8664c, 0xd9cdb8, 0x6e4f33][i % 4]!;
    v.box(0, 0, 0, Math.floor(random() * 2.3), Math.floor(random() * 1.6), Math.floor(random() * 1.8), color);
    const a = random() * 6.28;
    const r = 3 + random() * 9;
    const yaw = random() * 3;
    const x = Math.cos(a) * r - 1;
    const z = 16 + Math.sin(a) * r * 0.5;
    const y = random() * (i % 5 === 0 ? 9 : 0.2);
    const tilt = i % 5 === 0 ? random() : 0.06 * random();
    core.addGroup({ id: 100 + i, mesh: v.mesh(), pose: () => [x, y, z, Math.sin(tilt), Math.sin(yaw / 2) * Math.cos(tilt), 0, Math.cos(yaw / 2) * Math.cos(tilt)] });
  }
  core.state = { ...core.state, blocks: town.colors.size, bounds: [-25, 0, -20, 24, 28, 17] };
  if (query.has('effects')) {
    setTimeout(() => {
      core.effects.push({ kind: 'blast', point: [-1, 5, 21], value: 6, color: 0 });
      for (let i = 0; i < 12; i++) core.effects.push({ kind: 'broken', point: [-3 + i * 0.5, 5 + (i % 4), 12], value: 1, color: 0x9a978f });
      for (let i = 0; i < 4; i++) core.effects.push({ kind: 'dust', point: [-9 + i * 4, 1, 21], value: 20, color: 0x9a978f });
    }, Number(query.get('effects')) * 1000);
  }
}

function pieces(count: number): void {
  const v = new Voxels();
  v.box(0, 0, 0, 1, 0, 0, 0xb8664c);
  const side = Math.ceil(Math.cbrt(count));
  for (let i = 0; i < count; i++) {
    const x = (i % side) * 3 - side * 1.5;
    const y = 1 + Math.floor(i / (side * side)) * 3;
    const z = (Math.floor(i / side) % side) * 3 - side * 1.5;
    core.addGroup({ id: 1 + i, mesh: v.mesh(), pose: (now) => {
      const t = query.has('still') ? 0 : now;
      return [x, y + Math.sin(t + i), z, 0, Math.sin((t + i) / 2), 0, Math.cos((t + i) / 2)];
    } });
  }
  core.state = { ...core.state, awake: count, bounds: [-side * 1.5, 0, -side * 1.5, side * 1.5, side * 3, side * 1.5] };
}

const count = Number(query.get('pieces') ?? 0);
if (count > 0) pieces(count);
else town();

const socket: Socket = { binaryType: '', bufferedAmount: 0, onopen: null, onclose: null, onerror: null, onmessage: null, send: () => {}, close: () => {} };
const app = new App(core, () => {
  setTimeout(() => socket.onopen?.({}), 0);
  return socket;
});
// The double keeps its scene over a reset: what a real server would send again.
app.world.clear = () => {};
window.__talus = app.hooks();
app.start();
