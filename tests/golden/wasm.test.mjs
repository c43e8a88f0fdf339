// The golden scenes in WebAssembly give the bits of hashes.txt, and what was recorded natively gives the same again.
// Run: node --test tests/golden/wasm.test.mjs   (TALUS_BIN: the program, else build/release/bin/talus)
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const known = new Map(
  readFileSync(new URL('tests/golden/hashes.txt', root), 'utf8')
    .split('\n')
    .filter((line) => line.length > 17)
    .map((line) => [line.slice(17), line.slice(0, 16)]),
);
const module = new WebAssembly.Module(readFileSync(process.env.TALUS_GOLDEN_WASM ?? new URL('build/wasm/bin/golden.wasm', root)));
// What the C library asks of its host. The core never does, so each call is an error (8: bad file).
const imports = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 8;
const { exports: core } = new WebAssembly.Instance(module, imports);
core._initialize();

const text = (address) => {
  const bytes = new Uint8Array(core.memory.buffer, address);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
};

test('every hash has its scene', () => {
  assert.equal(core.scene_count(), known.size);
});
for (let i = 0; i < core.scene_count(); i++) {
  const name = text(core.scene_name(i));
  test(name, () => {
    const hash = BigInt.asUintN(64, core.run_scene(i)).toString(16).padStart(16, '0');
    assert.equal(hash, known.get(name));
  });
}

test('a native recording is replayed to the same bits, and its level goes on from a snapshot', () => {
  const folder = mkdtempSync(join(tmpdir(), 'talus-recording-'));
  try {
    const file = join(folder, 'a.talusrec');
    const program = process.env.TALUS_BIN ?? fileURLToPath(new URL('build/release/bin/talus', root));
    const ran = spawnSync(program, ['collapse', 'wear', '--json', '--record', file], { encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr ?? String(ran.error));
    const bytes = readFileSync(file);
    const replay = (recording) => {
      const at = core.buffer(recording.length); // may move the memory
      new Uint8Array(core.memory.buffer, at, recording.length).set(recording);
      return core.replay();
    };
    assert.equal(replay(bytes), 0, text(core.replay_text()));
    assert.equal(core.replay_tick(), JSON.parse(ran.stdout).ticks);
    assert.equal(core.goes_on(), 1);
    bytes[bytes.length - 9] ^= 4;
    assert.equal(replay(bytes), 2);
    assert.match(text(core.replay_text()), /^frame \d+ at byte \d+: /);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
