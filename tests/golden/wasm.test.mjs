// The golden scenes in WebAssembly give the bits of hashes.txt. Run: node --test tests/golden/wasm.test.mjs
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const known = new Map(
  readFileSync(new URL('tests/golden/hashes.txt', root), 'utf8')
    .split('\n')
    .filter((line) => line.length > 17)
    .map((line) => [line.slice(17), line.slice(0, 16)]),
);
const module = new WebAssembly.Module(readFileSync(new URL('build/wasm/bin/golden.wasm', root)));
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
