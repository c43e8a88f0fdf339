// drawing.test.mjs - the page's drawing without a server: the core is a double that moves 2,000 pieces.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  browserMissing, clientRequire, countDifferent, countPixels, frames, kPatience, kRoot, openBrowser, openTab, picture, until,
} from './support.mjs';

const skip = browserMissing();
let browser;
let vite;
let address;

before(async () => {
  if (skip) return;
  const { createServer } = await import(pathToFileURL(path.join(path.dirname(clientRequire.resolve('vite/package.json')), 'dist/node/index.js')).href);
  vite = await createServer({
    root: path.join(kRoot, 'client'), configFile: path.join(kRoot, 'client/vite.config.ts'), logLevel: 'error',
    server: { port: 0, host: '127.0.0.1', hmr: false },
    cacheDir: path.join(kRoot, 'client/node_modules/.vite-test'),
    // The page itself, started by the harness in the place of the program.
    plugins: [{
      name: 'talus-harness',
      transformIndexHtml: { order: 'pre', handler: (html) => html.replace('/src/main.ts', '/tests/harness.ts') },
    }],
  });
  await vite.listen();
  address = `http://127.0.0.1:${vite.httpServer.address().port}/`;
  browser = await openBrowser();
}, { timeout: kPatience });

after(async () => {
  await browser?.close();
  await vite?.close();
});

const brick = ([r, g, b]) => r > 1.25 * g && r > 1.25 * b;

test('2,000 moving pieces are a few draws, and a new pose is not a new mesh', { skip }, async () => {
  const { page, faults } = await openTab(browser, `${address}?quality=low&pieces=2000`);
  await until(page, () => window.__talus?.counts().groupsDrawn === 2000);
  await frames(page, 25);
  const first = await page.evaluate(() => ({ ...window.__talus.counts(), ...window.__draws }));
  const before = await picture(page);
  await page.evaluate(() => (window.__draws.most = 0));
  await frames(page, 30);
  const last = await page.evaluate(() => ({ ...window.__talus.counts(), ...window.__draws }));
  const after = await picture(page);

  assert.equal(last.batches, 1);
  assert.equal(last.vertices, 2000 * 40);
  assert.ok(last.most >= 3 && last.most <= 8, `most draws in one frame: ${last.most}`);
  assert.ok(last.poseUploads >= first.poseUploads + 20, 'poses are uploaded as they change');
  assert.equal(last.bytesUploaded, first.bytesUploaded, 'no mesh was uploaded while pieces moved');
  assert.ok(last.shadowRenders > first.shadowRenders, 'shadows move with the pieces');
  assert.ok(countPixels(before, brick) > 4000, `pieces are seen: ${countPixels(before, brick)} pixels`);
  assert.ok(countDifferent(before, after) > 2000, `pieces move: ${countDifferent(before, after)} pixels differ`);
  assert.deepEqual(faults, []);
  await page.close();
});

test('a scene at rest draws the same picture, and uploads and shadows nothing', { skip }, async () => {
  const { page, faults } = await openTab(browser, `${address}?quality=low`);
  await until(page, () => window.__talus?.counts().groupsDrawn > 100);
  await frames(page, 40);
  const first = await page.evaluate(() => window.__talus.counts());
  const before = await picture(page);
  await frames(page, 20);
  const last = await page.evaluate(() => window.__talus.counts());
  assert.equal(countDifferent(before, await picture(page)), 0);
  assert.equal(last.poseUploads, first.poseUploads);
  assert.equal(last.bytesUploaded, first.bytesUploaded);
  assert.equal(last.shadowRenders, first.shadowRenders);
  assert.deepEqual(faults, []);
  await page.close();
});

test('both qualities draw the town, shadows included', { skip }, async () => {
  for (const quality of ['low', 'high']) {
    const { page, faults } = await openTab(browser, `${address}?quality=${quality}`);
    await until(page, () => window.__talus?.counts().groupsDrawn > 100);
    await page.evaluate(() => window.__talus.setCamera([-28, 37, 52], [0, 12, -2]));
    await frames(page, 40);
    const image = await picture(page);
    const at = (point) => page.evaluate((p) => window.__talus.project(p), point);
    const pixel = (p) => image.at(Math.round(p.x), Math.round(p.y));
    // The sun stands over +x +z: the tower's shadow lies towards -x -z.
    const [shade, sun] = [pixel(await at([-10, 0, -4])), pixel(await at([-12, 0, 22]))];
    const light = ([r, g, b]) => 0.3 * r + 0.6 * g + 0.1 * b;
    assert.ok(light(shade) < 0.75 * light(sun), `${quality}: ground in shadow ${shade}, in the sun ${sun}`);
    assert.deepEqual(faults, []);
    await page.close();
  }
});

test('only faces turned to the eye are drawn: a block is seen from outside, not from within', { skip }, async () => {
  const { page, faults } = await openTab(browser, `${address}?quality=low&pieces=1&still`);
  await until(page, () => window.__talus?.counts().groupsDrawn === 1);
  // The piece, two blocks long, lies at (-1.5, 1, -1.5) and does not turn.
  await page.evaluate(() => window.__talus.setCamera([3, 3, 3], [-0.5, 1.5, -1]));
  await frames(page, 30);
  const outside = countPixels(await picture(page), brick);
  await page.evaluate(() => window.__talus.setCamera([-0.5, 1.5, -1], [3, 3, 3]));
  await frames(page, 5);
  const within = countPixels(await picture(page), brick);
  assert.ok(outside > 3000, `${outside} pixels from outside`);
  assert.equal(within, 0, `${within} pixels from within`);
  assert.deepEqual(faults, []);
  await page.close();
});

test('a lost graphics context comes back with everything in it', { skip }, async () => {
  const { page } = await openTab(browser, `${address}?quality=low`);
  await until(page, () => window.__talus?.counts().groupsDrawn > 100);
  await frames(page, 40);
  const before = await picture(page);
  await page.evaluate(() => {
    window.__lose = document.getElementById('view').getContext('webgl2').getExtension('WEBGL_lose_context');
    window.__lose.loseContext();
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await page.evaluate(() => window.__lose.restoreContext());
  await frames(page, 40);
  assert.equal(countDifferent(before, await picture(page)), 0);
  await page.close();
});

test('the panels are labelled, the help folds, keys and wheel set the power', { skip }, async () => {
  const { page, faults } = await openTab(browser, `${address}?quality=low`);
  await until(page, () => window.__talus?.counts().groupsDrawn > 100);
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, canvas, section')]
    .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
  const open = () => page.evaluate(() => document.getElementById('help').open);
  const was = await open();
  await page.keyboard.press('KeyH');
  assert.equal(await open(), !was);
  await page.keyboard.press('KeyH');
  await page.keyboard.press('9');
  assert.equal(await page.textContent('#power-value'), '32');
  await page.mouse.move(320, 150);
  await page.mouse.wheel(0, 100);
  await until(page, () => document.getElementById('power-value').textContent === '26.5');
  await page.fill('#power', '7');
  assert.equal(await page.evaluate(() => window.__talus.camera().power), 7);
  // Flying forward moves the eye where it looks; a drag turns the view.
  await page.focus('#view');
  const eye = await page.evaluate(() => window.__talus.camera());
  await page.keyboard.down('KeyW');
  await frames(page, 10);
  await page.keyboard.up('KeyW');
  const moved = await page.evaluate(() => window.__talus.camera());
  assert.ok(moved.eye[2] < eye.eye[2] - 0.5, `the eye moved from ${eye.eye} to ${moved.eye}`);
  await page.mouse.down();
  await page.mouse.move(420, 150, { steps: 4 });
  await page.mouse.up();
  const turned = await page.evaluate(() => window.__talus.camera());
  assert.ok(turned.yaw < moved.yaw - 0.2, `yaw ${moved.yaw} then ${turned.yaw}`);
  assert.deepEqual(faults, []);
  await page.close();
});
