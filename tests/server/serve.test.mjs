// talus serve from outside: the page's files, the WebSocket's guards, two pages in one world, uploads, reset, a clean end.
// Run: node --test tests/server/   (TALUS_BIN: the program, else build/release/bin/talus)
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Page, Socket } from './client.mjs';

const program = process.env.TALUS_BIN ?? fileURLToPath(new URL('../../build/release/bin/talus', import.meta.url));
assert.ok(existsSync(program), `${program} is not built`);
const site = mkdtempSync(join(tmpdir(), 'talus-site-'));
mkdirSync(join(site, 'assets'));
writeFileSync(join(site, 'index.html'), '<title>page</title>');
writeFileSync(join(site, 'assets', 'main-1.js'), '1');
writeFileSync(join(site, 'talus.wasm'), 'x');

const servers = new Set(); // those a failed test leaves behind would keep this program from ending

async function serve(...args) {
  const child = spawn(program, ['serve', '--port', '0', '--page', site, ...args]);
  servers.add(child);
  child.log = '';
  child.stderr.on('data', (text) => (child.log += text));
  const [line] = await once(child.stdout, 'data');
  child.port = Number(/:(\d+)\//.exec(String(line))[1]);
  return child;
}
async function end(child) {
  child.kill('SIGTERM');
  const ended = child.exitCode !== null || child.signalCode !== null;
  const [code] = ended ? [child.exitCode] : await once(child, 'exit');
  return code;
}
const get = (port, path, { method = 'GET', headers = {} } = {}) =>
  new Promise((resolve, reject) => {
    const r = request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let body = '';
      response.on('data', (d) => (body += d));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    r.on('error', reject);
    r.end();
  });

/** A little .vox: a solid box of voxels. */
function vox(sx, sy, sz) {
  const int = (v) => { const b = Buffer.alloc(4); b.writeInt32LE(v); return b; };
  const chunk = (id, content) => Buffer.concat([Buffer.from(id), int(content.length), int(0), content]);
  const voxels = [];
  for (let z = 0; z < sz; z++) for (let y = 0; y < sy; y++) for (let x = 0; x < sx; x++) voxels.push(Buffer.from([x, y, z, 1]));
  const body = Buffer.concat([
    chunk('SIZE', Buffer.concat([int(sx), int(sy), int(sz)])),
    chunk('XYZI', Buffer.concat([int(voxels.length), ...voxels])),
  ]);
  return Buffer.concat([Buffer.from('VOX '), int(150), Buffer.from('MAIN'), int(0), int(body.length), body]);
}

let server;
before(async () => (server = await serve()));
after(async () => {
  for (const child of servers) await end(child);
  rmSync(site, { recursive: true });
});

test('serves the files of the page and nothing else', async () => {
  const index = await get(server.port, '/');
  assert.equal(index.status, 200);
  assert.match(index.headers['content-type'], /text\/html/);
  assert.equal(index.headers['cache-control'], 'no-cache');
  assert.equal(index.body, '<title>page</title>');
  assert.equal((await get(server.port, '/', { headers: { 'If-None-Match': index.headers.etag } })).status, 304);
  assert.match((await get(server.port, '/assets/main-1.js')).headers['cache-control'], /immutable/);
  assert.equal((await get(server.port, '/talus.wasm')).headers['content-type'], 'application/wasm');
  const head = await get(server.port, '/', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], '19');
  assert.equal(head.body, '');
  assert.equal((await get(server.port, '/', { method: 'POST' })).status, 405);
  for (const path of ['/nothing', '/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/..%2f..%2fetc/passwd', '/assets'])
    assert.equal((await get(server.port, path)).status, 404, path);
});

test('its WebSocket takes only its own page', async () => {
  const { port } = server;
  const refused = [
    { origin: 'http://evil.example' }, { origin: null }, { origin: 'null' }, { origin: `http://127.0.0.1:${port}.evil.example` },
    { origin: `http://evil.example:${port}`, host: `evil.example:${port}` }, { origin: `http://localhost:${port}` },
  ];
  for (const options of refused) assert.equal((await Socket.open(port, options)).status, 403, JSON.stringify(options));
  assert.equal((await Socket.open(port, { path: '/other' })).status, 404);
  for (const options of [{}, { origin: `http://localhost:${port}`, host: `localhost:${port}` }]) {
    const socket = await Socket.open(port, options);
    assert.equal(socket.status, 101);
    socket.close();
  }
});

test('the town stands, and two pages see it fall alike', async () => {
  const first = await Page.open(server.port);
  await first.until((p) => p.messages > 20);
  const start = first.world.stats();
  assert.ok(start.blocks > 10000, `${start.blocks} blocks`);
  assert.equal(start.awake, 0);
  const meshes = first.meshes.size;
  assert.equal(meshes, start.groups);
  // A charge at the foot of the church's tower, and a block dug by hand.
  const tower = first.world.pick([13.5, 60, 39.5], [0, -1, 0], 100);
  assert.equal(tower.kind, 'group');
  first.send(first.world.blast(13.5, 2.5, 43.5, 5));
  first.send(first.world.dig(tower.group, ...tower.cell));
  await first.until((p) => p.world.stats().groups > start.groups && p.world.stats().awake > 0);
  const second = await Page.open(server.port);
  await second.until((p) => p.world.stats().connected);
  const at = first.world.stats().tick;
  await first.until((p) => p.world.stats().tick > at + 60);
  // Still pieces lie at the same bits on both.
  await second.until((p) => p.world.stats().tick > at + 60);
  await first.until((p) => p.world.stats().awake === 0);
  await second.until((p) => p.world.stats().awake === 0);
  const settled = first.world.stats().tick + 10;
  await first.until((p) => p.world.stats().tick > settled);
  await second.until((p) => p.world.stats().tick > settled);
  assert.ok(first.world.stats().blocks < start.blocks);
  assert.deepEqual([...first.meshes].sort(), [...second.meshes].sort());
  assert.deepEqual([...first.poses].sort(), [...second.poses].sort());
  second.close();

  first.send(first.world.reset());
  await first.until((p) => p.world.stats().blocks === start.blocks && p.world.stats().groups === start.groups);
  await first.until((p) => p.meshes.size === meshes);
  first.close();
});

test('an upload stands as a group of its own, or says why not', async () => {
  const page = await Page.open(server.port);
  await page.until((p) => p.world.stats().connected);
  const before = page.world.stats();
  page.send(page.world.upload('tower.vox', vox(5, 5, 12)));
  await page.until((p) => p.notices.length === 1);
  assert.deepEqual(page.notices.pop(), { error: false, text: 'tower.vox stands' });
  await page.until((p) => p.world.stats().groups === before.groups + 1);
  assert.equal(page.world.stats().blocks, before.blocks + 300);
  assert.equal(page.world.stats().awake, 0);
  page.send(page.world.upload('noise.bin', Buffer.from('this is no model')));
  await page.until((p) => p.notices.length === 1);
  assert.equal(page.notices[0].error, true);
  assert.match(page.notices.pop().text, /noise\.bin/);
  page.send(Buffer.alloc(20 << 20));
  await page.until((p) => p.notices.length === 1);
  assert.match(page.notices.pop().text, /20 MiB is too long, the limit is 16 MiB/);
  page.send(page.world.upload('tower.vox', vox(3, 3, 3)));
  await page.until((p) => p.notices.length === 1);
  assert.equal(page.notices[0].error, false, 'it goes on after that');
  page.close();
});

test('a scene is chosen for all, and its action brings it down', async () => {
  const other = await serve();
  const [first, second] = [await Page.open(other.port), await Page.open(other.port)];
  for (const page of [first, second]) await page.until((p) => p.world.stats().connected);
  const { entries, current } = first.world.scenes();
  assert.equal(current, 0);
  assert.equal(entries[0].action, '');
  const floors = entries.findIndex((e) => e.title === 'floor onto floor');
  assert.ok(floors > 0 && entries[floors].action.length > 0);
  first.send(first.world.act()); // the town has none
  await first.until((p) => p.notices.length === 1);
  assert.match(first.notices.pop().text, /no action/);
  first.send(first.world.scene(floors));
  for (const page of [first, second]) await page.until((p) => p.world.scenes().current === floors);
  for (const page of [first, second]) assert.equal(page.world.stats().groups, 0, 'it stands as terrain');
  second.send(second.world.act());
  for (const page of [first, second]) await page.until((p) => p.world.stats().groups > 4);
  second.send(second.world.reset());
  for (const page of [first, second]) await page.until((p) => p.world.stats().groups === 0);
  assert.equal(first.world.scenes().current, floors, 'reset puts the same scene back');
  // Forged numbers are refused, those of the world's menu and those beyond any.
  second.send(second.world.scene(entries.length));
  second.send(second.world.scene(4_000_000_000));
  await second.until((p) => p.notices.length === 2);
  assert.ok(second.notices.every((n) => n.error && /scene/.test(n.text)));
  assert.match(other.log, /refused: scene/);
  assert.match(other.log, /scene floor onto floor/);
  assert.equal(second.world.scenes().current, floors);
  first.close();
  second.close();
  await end(other);
});

test('the eight golden scenes are in the menu, stand, and come down', async () => {
  const other = await serve();
  const titles = ['tower blasted at the base', 'balcony mined away', 'floor onto floor', 'bridge cut', 'chain reaction of houses',
    'tumbling assembled ship', 'wear by two blasts', 'town under 100 blasts'];
  for (const [i, title] of titles.entries()) {
    const page = await Page.open(other.port); // each may choose a few scenes only
    await page.until((p) => p.world.stats().connected);
    assert.deepEqual(page.world.scenes().entries.slice(1).map((e) => e.title), titles);
    page.send(page.world.scene(i + 1));
    await page.until((p) => p.world.scenes().current === i + 1);
    assert.equal(page.world.stats().awake, 0, `${title} stands`);
    page.send(page.world.act());
    await page.until((p) => p.world.stats().awake > 0);
    page.close();
  }
  assert.equal(await end(other), 0);
});

test('forged requests are refused and logged', async () => {
  const page = await Page.open(server.port);
  await page.until((p) => p.world.stats().connected);
  const before = page.world.stats();
  page.send(page.world.blast(13, 2, 40, 1e6));
  page.send(page.world.blast(NaN, 2, 40, 4));
  page.send(Buffer.from('nonsense'));
  await page.until((p) => p.notices.length >= 3);
  assert.match(page.notices[0].text, /power/);
  assert.ok(page.notices.every((n) => n.error));
  await page.until(() => /refused/.test(server.log));
  page.send(page.world.dig(4_000_000, 0, 0, 0)); // no such group: it may just have gone
  // Far more than a person clicks.
  for (let i = 0; i < 150; i++) page.send(page.world.dig(4_000_000, 0, 0, 0));
  await page.until((p) => p.notices.length >= 4);
  assert.match(page.notices[3].text, /too many/);
  const at = page.world.stats().tick;
  await page.until((p) => p.world.stats().tick > at + 5);
  assert.equal(page.world.stats().blocks, before.blocks);
  page.close();
});

test('a page that does not read is not waited for', async () => {
  const slow = await Socket.open(server.port);
  slow.tcp.pause();
  const page = await Page.open(server.port);
  await page.until((p) => p.world.stats().connected);
  const at = page.world.stats().tick;
  await page.until((p) => p.world.stats().tick > at + 40);
  slow.close();
  page.close();
});

test('ends cleanly, and says what is wrong at the start', async () => {
  const other = await serve();
  const page = await Page.open(other.port);
  await page.until((p) => p.world.stats().connected);
  assert.equal(await end(other), 0);
  const run = async (...args) => {
    const child = spawn(program, ['serve', ...args]);
    let text = '';
    child.stderr.on('data', (d) => (text += d));
    const [code] = await once(child, 'close');
    return { code, text };
  };
  assert.match((await run('--port', String(server.port), '--page', site)).text, /cannot listen/);
  const missing = await run('--port', '0', '--page', site, join(site, 'no.vox'));
  assert.equal(missing.code, 1);
  assert.match(missing.text, /no\.vox/);
  assert.equal((await run('--port', '0', '--page', join(site, 'assets'))).code, 1);
  assert.equal((await run('--port', 'x')).code, 2);
});

test('files on the command line stand in the world', async () => {
  const file = join(site, 'box.vox');
  writeFileSync(file, vox(4, 4, 4));
  const other = await serve(file, file);
  const page = await Page.open(other.port);
  await page.until((p) => p.world.stats().connected);
  assert.equal(page.world.stats().groups, 2);
  assert.equal(page.world.stats().blocks, 128);
  page.close();
  await end(other);
});

/** What `talus replay --json` says, and how it ended. */
function replay(file, ...args) {
  const ran = spawnSync(program, ['replay', file, '--json', ...args], { encoding: 'utf8' });
  return { exit: ran.status, ...JSON.parse(ran.stdout) };
}
const hitWorld = async (page) => {
  await page.until((p) => p.world.stats().connected && p.messages > 3);
  const tower = page.world.pick([13.5, 60, 39.5], [0, -1, 0], 100);
  page.send(page.world.blast(13.5, 2.5, 43.5, 5));
  page.send(page.world.dig(tower.group, ...tower.cell));
  page.send(page.world.upload('tower.vox', vox(3, 3, 7)));
  await page.until((p) => p.notices.length === 1);
  page.send(page.world.dig(0, 5, -1, 5)); // terrain
  const at = page.world.stats().tick;
  await page.until((p) => p.world.stats().awake > 0 && p.world.stats().tick > at + 30);
};

test('what happens is recorded, and gives the same again', async () => {
  const file = join(site, 'world.talusrec');
  const other = await serve('--record', file, '--threads', '2');
  const page = await Page.open(other.port);
  await hitWorld(page);
  const seen = page.world.stats();
  page.close();
  assert.equal(await end(other), 0);
  const told = replay(file);
  assert.equal(told.outcome, 'same', told.what);
  assert.equal(told.exit, 0);
  assert.equal(told.first_tick, 0);
  assert.ok(told.tick >= seen.tick, `${told.tick} ticks, ${seen.tick} seen`);
  assert.ok(told.calls >= 4, `${told.calls} calls`);
  assert.equal(told.hash, told.recorded_hash);
  assert.deepEqual(replay(file, '--threads', '2'), told, 'for any number of threads');
});

test('a recording is of the world set up last, and a killed server leaves one', async () => {
  const file = join(site, 'scene.talusrec');
  const other = await serve('--record', file);
  const page = await Page.open(other.port);
  await hitWorld(page);
  const floors = page.world.scenes().entries.findIndex((e) => e.title === 'floor onto floor');
  page.send(page.world.scene(floors));
  await page.until((p) => p.world.scenes().current === floors);
  page.send(page.world.act());
  await page.until((p) => p.world.stats().groups > 4);
  const seen = page.world.stats();
  other.kill('SIGKILL');
  await once(other, 'exit');
  const told = replay(file);
  // Killed while it wrote, the last call may be half there; all before is.
  if (told.outcome === 'damaged') assert.match(told.what, /ends within it/);
  else assert.equal(told.outcome, 'same', told.what);
  assert.ok(told.calls > 0 && told.tick >= seen.tick, `${told.tick} ticks, ${seen.tick} seen`);
  assert.ok(told.tick < 400, 'nothing of the town before');
});

test('settings and protected regions hold for every world it sets up', async () => {
  const other = await serve('--set', 'collapse=off', '--protect', '-900,-900,-900:900,900,900');
  const page = await Page.open(other.port);
  await page.until((p) => p.world.stats().connected);
  for (const scene of [0, 1]) {
    page.send(page.world.scene(scene));
    await page.until((p) => p.world.scenes().current === scene && p.world.stats().blocks > 0);
    const before = page.world.stats();
    for (let i = 0; i < 4; i++) page.send(page.world.blast(4 * i, 2.5, 4 * i, 5));
    await page.until((p) => p.world.stats().tick > before.tick + 20);
    assert.equal(page.world.stats().blocks, before.blocks, `scene ${scene}`);
  }
  page.close();
  assert.equal(await end(other), 0);
  const wrong = spawnSync(program, ['serve', '--port', '0', '--page', site, '--set', 'colapse=off'], { encoding: 'utf8' });
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /colapse=off/);
});

test('a recording that cannot be made or grew too large is told of', async () => {
  const file = join(site, 'full.talusrec');
  const other = await serve('--record', file, '--record-limit', '0.1');
  const page = await Page.open(other.port);
  await page.until((p) => p.world.stats().connected);
  page.send(page.world.scene(1));
  await page.until((p) => p.world.scenes().current === 1);
  for (let i = 0; i < 4; i++) page.send(page.world.blast(i, 2, i, 2));
  await page.until(() => /the recording ends here/.test(other.log));
  const at = page.world.stats().tick;
  await page.until((p) => p.world.stats().tick > at + 3); // the world goes on
  page.close();
  assert.equal(await end(other), 0);
  assert.ok(readFileSync(file).length <= 0.1 * (1 << 20));
  const nowhere = spawnSync(program, ['serve', '--port', '0', '--page', site, '--record', join(site, 'no/such/folder')], { encoding: 'utf8' });
  assert.equal(nowhere.status, 1);
  assert.match(nowhere.stderr, /cannot record to .*No such file/);
  assert.equal(nowhere.stdout, '', 'before it says where it is');
});
