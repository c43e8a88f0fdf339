// sandbox.test.mjs - the whole path: a file stands in the server, is shot at in one tab, falls in two, and is put back.
//
// The tests of this file are one story, told in order on one server and one browser.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  boxVoxels, browserMissing, countDifferent, countPixels, dropFile, frames, freePort, get, isBlue, isRed, kPatience, knock,
  openBrowser, openTab, picture, serverMissing, startServer, until, voxFile,
} from './support.mjs';

const skip = browserMissing() || serverMissing();

// A pillar with an arm to one side: it stands, and turns over when its foot goes. (.vox: z up)
const kHeight = 18;
const kTower = [
  ...boxVoxels(2, 2, kHeight),
  ...boxVoxels(7, 2, 2).map(([x, y, z]) => [x + 2, y, z + kHeight - 2]),
];
const kBlocks = kTower.length;

let folder;
let file;
let port;
let server;
let browser;
let tab;   // { page, faults }
let second;

const counts = (page = tab.page) => page.evaluate(() => window.__talus.counts());
const settled = (page, blocks) => until(page, (wanted) => {
  const c = window.__talus?.counts();
  return c?.connected && c.blocks === wanted && c.groupsDrawn === c.groups && c.groupsDrawn > 0;
}, blocks);
const bounds = () => tab.page.evaluate(() => window.__talus.bounds());
/** Where the foot of the tower's near side is on the page, and the middle of its top. */
async function towerOnPage() {
  const { low, high } = await bounds();
  const project = (point) => tab.page.evaluate((p) => window.__talus.project(p), point);
  return { foot: await project([low[0] + 1, low[1] + 2.5, high[2]]), top: await project([low[0] + 1, high[1], high[2]]) };
}
const calm = (page) => until(page, () => window.__talus.counts().awake === 0);

/** Group numbers and, rounded to centimetres, where each is. */
const world = (page) => page.evaluate(() => window.__talus.groupIds()
  .map((id) => [id, window.__talus.pose(id).map((x) => Math.round(x * 100) / 100)]));

before(async () => {
  if (skip) return;
  folder = mkdtempSync(path.join(tmpdir(), 'talus-sandbox-'));
  file = path.join(folder, 'tower.vox');
  writeFileSync(file, voxFile([9, 2, kHeight], kTower, [214, 40, 30]));
  port = await freePort();
  server = await startServer(port, file);
  browser = await openBrowser();
}, { timeout: kPatience });

after(async () => {
  await browser?.close();
  await server?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test('the file the server was started with stands in the middle of the page', { skip }, async () => {
  tab = await openTab(browser, `http://127.0.0.1:${port}/?quality=low`);
  await settled(tab.page, kBlocks);
  const c = await counts();
  assert.equal(c.groups, 1);
  const { low, high } = await bounds();
  assert.deepEqual(high.map((x, i) => Math.round(x - low[i])), [9, kHeight, 2]);
  await frames(tab.page, 30);
  const image = await picture(tab.page);
  const middle = countPixels(image, isRed, [200, 20, 440, 340]);
  assert.ok(middle > 2000, `${middle} red pixels in the middle`);
  assert.equal(countPixels(image, isRed, [0, 0, 120, 360]), 0, 'none at the side');
  assert.equal(await tab.page.textContent('#state'), 'live');
  assert.equal(await tab.page.textContent('#groups'), '1');
});

test('a click blasts it: pieces fall, turn and come to rest, and pixels change where they were', { skip }, async () => {
  const { page } = tab;
  const { foot, top } = await towerOnPage();
  const aim = await page.evaluate(([x, y]) => window.__talus.pickAt(x, y), [foot.x, foot.y]);
  assert.equal(aim.kind, 'group');
  const before = await picture(page);
  const startBounds = await bounds();
  await page.evaluate(() => window.__talus.setPower(8));
  await page.mouse.click(foot.x, foot.y);
  await until(page, () => window.__talus.counts().effects.blast > 0);
  // A piece comes down by metres and turns by over a third of a right angle.
  await until(page, (most) => {
    const b = window.__talus.bounds();
    return b.high[1] < most - 4 && window.__talus.groupIds().some((id) => {
      const p = window.__talus.pose(id);
      return p[3] ** 2 + p[4] ** 2 + p[5] ** 2 > Math.sin(0.25) ** 2;
    });
  }, startBounds.high[1]);
  await calm(page);
  const c = await counts();
  assert.ok(c.blocks < kBlocks, `${kBlocks - c.blocks} blocks are gone`);
  assert.ok(c.effects.broken > 0 || c.effects.dust > 0, `effects ${JSON.stringify(c.effects)}`);
  await until(page, () => document.querySelector('#awake').textContent === '0');
  await frames(page, 60);
  const after = await picture(page);
  const region = [top.x - 40, top.y - 10, top.x + 160, foot.y + 20];
  const changed = countDifferent(before, after, region);
  assert.ok(changed > 1500, `${changed} pixels differ where the tower stood`);
  assert.equal(countDifferent(before, after, [0, 0, 60, 80]), 0, 'the sky far from it is as before');
  assert.ok(countPixels(after, isRed, region) < countPixels(before, isRed, region), 'less of it is left standing');
});

test('a second tab sees the same world', { skip }, async () => {
  second = await openTab(browser, `http://127.0.0.1:${port}/?quality=low`);
  const { blocks } = await counts();
  await settled(second.page, blocks);
  await calm(second.page);
  await frames(second.page, 10);
  assert.deepEqual(await world(second.page), await world(tab.page));
  const [a, b] = [await counts(), await counts(second.page)];
  assert.deepEqual([a.vertices, a.triangles, a.groupsDrawn], [b.vertices, b.triangles, b.groupsDrawn]);
});

test('a file dropped on one tab stands in both', { skip }, async () => {
  const had = (await counts()).blocks;
  const box = boxVoxels(6, 6, 6);
  await dropFile(tab.page, 'box.vox', voxFile([6, 6, 6], box, [30, 60, 220]));
  for (const { page } of [tab, second]) await settled(page, had + box.length);
  await tab.page.keyboard.press('KeyC');  // see the whole
  await frames(tab.page, 30);
  const blue = countPixels(await picture(tab.page), isBlue);
  assert.ok(blue > 500, `${blue} blue pixels`);
});

test('a file that is no file is refused with words, and nothing changes', { skip }, async () => {
  const had = await counts();
  await dropFile(tab.page, 'broken.vox', Buffer.from('VOX \x96\0\0\0 and then nothing of sense'));
  await until(tab.page, () => document.querySelector('.toast[data-kind="error"]') !== null);
  await dropFile(tab.page, 'picture.png', Buffer.from([1, 2, 3]));
  await until(tab.page, () => [...document.querySelectorAll('.toast[data-kind="error"]')].some((t) => t.textContent.includes('.schem')));
  const has = await counts();
  assert.deepEqual([has.blocks, has.groups], [had.blocks, had.groups]);
  assert.equal(await tab.page.evaluate(() => window.__talus.state()), 'open');
});

test('a right click digs one block', { skip }, async () => {
  const { page } = tab;
  const had = (await counts()).blocks;
  const target = await page.evaluate(() => {
    for (let y = 60; y < 320; y += 4) for (let x = 60; x < 580; x += 4) if (window.__talus.pickAt(x, y).kind === 'group') return { x, y };
    return null;
  });
  assert.ok(target, 'some block is in sight');
  await page.evaluate(() => document.querySelectorAll('.panel, #toasts').forEach((e) => (e.style.pointerEvents = 'none')));
  await page.mouse.click(target.x, target.y, { button: 'right' });
  await until(page, (before) => window.__talus.counts().blocks < before, had);
});

test('reset puts everything back, in both tabs', { skip }, async () => {
  const newest = Math.max(...(await tab.page.evaluate(() => window.__talus.groupIds())));
  await tab.page.keyboard.press('KeyR');
  for (const { page } of [tab, second]) {
    // Numbers of groups are never used again: all are new.
    await until(page, (last) => {
      const ids = window.__talus.groupIds();
      return ids.length > 0 && ids.every((id) => id > last) && window.__talus.counts().groups === ids.length;
    }, newest);
    await calm(page);
    assert.ok((await counts(page)).blocks >= kBlocks);
  }
  assert.deepEqual(await world(tab.page), await world(second.page));
  for (const [, pose] of await world(tab.page)) assert.deepEqual(pose.slice(3), [0, 0, 0, 1], 'nothing is turned');
});

test('a page left open reconnects after a restart of the server', { skip }, async () => {
  await server.stop('SIGKILL');
  await until(tab.page, () => window.__talus.state() === 'waiting');
  await until(tab.page, () => document.querySelector('#state').dataset.state !== 'open');
  server = await startServer(port, file);
  for (const { page } of [tab, second]) {
    await until(page, () => window.__talus.state() === 'open');
    await settled(page, kBlocks);
  }
  await frames(tab.page, 30);
  await tab.page.keyboard.press('KeyC');
  await frames(tab.page, 30);
  assert.ok(countPixels(await picture(tab.page), isRed) > 2000, 'the tower is drawn again');
  // And it can be shot at again.
  const { foot } = await towerOnPage();
  await tab.page.mouse.click(foot.x, foot.y);
  await until(tab.page, (before) => window.__talus.counts().blocks < before, kBlocks);
});

test('many pieces are few draws', { skip }, async () => {
  const { page } = tab;
  await page.evaluate(() => window.__talus.setPower(8));
  for (let i = 0; i < 4; i++) {
    const target = await page.evaluate(() => {
      for (let y = 330; y > 40; y -= 4) for (let x = 60; x < 580; x += 4) if (window.__talus.pickAt(x, y).kind === 'group') return { x, y };
      return null;
    });
    if (!target) break;
    const blasts = (await counts()).effects.blast;
    await page.mouse.click(target.x, target.y);
    await until(page, (before) => window.__talus.counts().effects.blast > before, blasts);
  }
  await page.evaluate(() => (window.__draws.most = 0));
  await frames(page, 30);
  const most = await page.evaluate(() => window.__draws.most);
  assert.ok(most >= 3 && most <= 8, `most draws in one frame: ${most}, with ${(await counts()).groupsDrawn} groups`);
});

test('the WebSocket takes its own origin and no other', { skip }, async () => {
  assert.equal(await knock(port, { Origin: `http://127.0.0.1:${port}` }), 101);
  for (const origin of ['http://evil.example', `http://127.0.0.1:${port + 1}`, 'null', `http://127.0.0.1:${port}.evil.example`]) {
    assert.equal(await knock(port, { Origin: origin }), 403, origin);
  }
});

test('nothing but the page is served', { skip }, async () => {
  assert.equal((await get(port, '/')).status, 200);
  const wasm = await get(port, '/talus.wasm');
  assert.deepEqual([wasm.status, wasm.headers['content-type']], [200, 'application/wasm']);
  for (const target of ['/../package.json', '/..%2fpackage.json', '/%2e%2e/package.json', '/nothing.js', '//etc/passwd']) {
    const answer = await get(port, target);
    assert.ok(answer.status >= 400 && answer.status < 500, `${target}: ${answer.status}`);
  }
});

test('neither tab reported an error', { skip }, () => {
  // A browser logs the refused connections of the restart as failed resources.
  const real = [...tab.faults, ...second.faults].filter((fault) => !/ERR_CONNECTION_REFUSED/.test(fault));
  assert.deepEqual(real, []);
});
