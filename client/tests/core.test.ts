// The real talus.wasm behind core_api.ts, fed with messages a native build encoded (tests/wasm/data).
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadCore } from '../src/core';
import type { Core, MeshChange } from '../src/core_api';

const kWasm = process.env['TALUS_WASM'] ?? fileURLToPath(new URL('../../build/wasm/bin/talus.wasm', import.meta.url));
const kMessages = fileURLToPath(new URL('../../tests/wasm/data/messages.bin', import.meta.url));

function messages(): Uint8Array[] {
  const bytes = new Uint8Array(readFileSync(kMessages));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = view.getUint32(at, true);
    out.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return out;
}

const quads = (change: MeshChange): number => (change.mesh?.positions.length ?? 0) / 12;

describe.skipIf(!existsSync(kWasm))('core (talus.wasm)', () => {
  const load = (): Promise<Core> => loadCore(new Uint8Array(readFileSync(kWasm)));

  it('plays a welcome, motion, a split and a notice', async () => {
    const core = await load();
    const [welcome, ...frames] = messages();
    const notice = frames.pop()!;
    expect(core.stats().connected).toBe(false);
    core.receive(welcome!, 10);
    expect(core.poses(10).count).toBe(1);
    expect(core.stats()).toMatchObject({ connected: true, ground: 0, groups: 1, blocks: 25, tick: 100 });
    const chunks = core.takeChunkChanges();
    expect(chunks.length).toBe(1);
    expect(quads(chunks[0]!)).toBe(6);
    expect(chunks[0]!.origin).toEqual([0, -16, 0]);
    const groups = core.takeGroupChanges();
    expect(groups.map((g) => g.id)).toEqual([7]);
    expect(quads(groups[0]!)).toBe(6);
    expect([...groups[0]!.mesh!.colors.slice(0, 4)]).toEqual([0x8a, 0x8a, 0x8a, 255]);

    let now = 10;
    let height = 0;
    const changes: MeshChange[] = [];
    const effects = [];
    for (const frame of frames) {
      now += 0.05;
      core.receive(frame, now);
      for (let k = 0; k < 3; k++) {
        const poses = core.poses(now + 0.05 * (k / 3));
        const at = [...poses.ids].indexOf(7) * 8;
        expect(poses.transforms[at]).toBe(10);
        expect(poses.transforms[at + 1]).toBeGreaterThanOrEqual(height);
        height = poses.transforms[at + 1]!;
        changes.push(...core.takeGroupChanges());
        effects.push(...core.takeEffects());
      }
    }
    expect(height).toBeGreaterThan(1.5);
    expect(changes.map((c) => c.id).sort()).toEqual([7, 8]);
    expect(effects).toEqual([{ kind: 'blast', point: [11, 1, 21], value: 4, color: 0 }]);
    core.receive(notice, now);
    expect(core.takeNotices()).toEqual([{ error: true, text: 'no room for the house — it is too large' }]);
  });

  it('picks blocks and walks on them', async () => {
    const core = await load();
    core.receive(messages()[0]!, 0);
    core.poses(0);
    const pick = core.pick([11, 10, 21.5], [0, -3, 0], 50);
    expect(pick).toMatchObject({ kind: 'group', group: 7, cell: [1, 2, 1], normal: [0, 1, 0] });
    expect(pick.distance).toBeCloseTo(7, 5);
    expect(core.pick([-50, 10, 0], [0, -1, 0], 50).kind).toBe('ground');
    let player = { position: [11, 4, 22] as [number, number, number], velocity: [0, 0, 0] as [number, number, number], flying: false, onGround: false };
    for (let i = 1; i < 60; i++) player = core.movePlayer(player, [0, 0, 0], false, 1 / 60, i / 60);
    expect(player.onGround).toBe(true);
    expect(player.position[1]).toBeCloseTo(3, 2);
  });

  it('refuses a damaged message with a reason and goes on after reset', async () => {
    const core = await load();
    expect(() => core.receive(new Uint8Array(100), 0)).toThrow(/server/);
    expect(() => core.receive(messages()[1]!, 0)).toThrow(/before the welcome/);
    core.reset();
    core.receive(messages()[0]!, 0);
    expect(core.stats().connected).toBe(true);
  });

  it('encodes requests', async () => {
    const core = await load();
    const upload = core.encodeUpload('häuser.vox', new Uint8Array([1, 2, 3]));
    expect(new TextDecoder().decode(upload)).toContain('häuser.vox');
    for (const message of [core.encodeBlast([1, 2, 3], 4), core.encodeReset(), core.encodeDig(core.pick([0, 1, 0], [0, -1, 0], 5))])
      expect(message.length).toBeGreaterThan(16);
    // A large upload makes the module's memory grow.
    expect(core.encodeUpload('big', new Uint8Array(12 << 20)).length).toBeGreaterThan(12 << 20);
    expect(core.stats().connected).toBe(false);
  });
});
