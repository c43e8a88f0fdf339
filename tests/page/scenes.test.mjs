// scenes.test.mjs - the menu of scenes: one tab chooses, both see it stand and come down.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { browserMissing, countDifferent, frames, freePort, kPatience, openBrowser, openTab, picture, serverMissing, startServer, until } from './support.mjs';

const skip = browserMissing() || serverMissing();
let server;
let browser;
let first;
let second;

before(async () => {
  if (skip) return;
  const port = await freePort();
  server = await startServer(port);
  browser = await openBrowser();
  first = await openTab(browser, `http://127.0.0.1:${port}/?quality=low`);
  second = await openTab(browser, `http://127.0.0.1:${port}/?quality=low`);
  for (const { page } of [first, second]) await until(page, () => window.__talus?.counts().connected && window.__talus.counts().groupsDrawn > 0);
}, { timeout: kPatience });

after(async () => {
  await browser?.close();
  await server?.stop();
});

test('the menu offers the start world and every scene', { skip }, async () => {
  const titles = await first.page.locator('#scene option').allTextContents();
  assert.ok(titles.length >= 9, titles.join(', '));
  assert.equal(new Set(titles).size, titles.length);
  assert.equal(await first.page.inputValue('#scene'), '0');
  assert.equal(await first.page.isVisible('#act'), false, 'the town has no action');
});

test('a scene chosen in one tab stands in both, in the middle of the picture', { skip }, async () => {
  const town = await first.page.evaluate(() => window.__talus.groupIds().length);
  await first.page.selectOption('#scene', { label: 'wear by two blasts' });
  for (const { page } of [first, second]) {
    await until(page, () => window.__talus.counts().groups === 1 && window.__talus.counts().groupsDrawn === 1);
    assert.equal(await page.$eval('#scene', (s) => s.selectedOptions[0].textContent), 'wear by two blasts');
    assert.equal(await page.textContent('#act'), 'Blast twice');
    const on = await page.evaluate(() => {
      const { low, high } = window.__talus.bounds();
      return window.__talus.project(low.map((x, i) => (x + high[i]) / 2));
    });
    assert.ok(on.x > 160 && on.x < 480 && on.y > 60 && on.y < 300, `its middle is at ${on.x}, ${on.y}`);
  }
  assert.ok(town > 1);
});

test('its button brings it down in both', { skip }, async () => {
  await frames(first.page, 20);
  const before = await picture(first.page);
  const blocks = await first.page.evaluate(() => window.__talus.counts().blocks);
  await first.page.evaluate(() => document.getElementById('act').click());
  for (const { page } of [first, second]) {
    await until(page, () => window.__talus.counts().effects.blast >= 2);
    await until(page, (had) => window.__talus.counts().blocks < had && window.__talus.bounds().high[1] < 16, blocks);
  }
  await frames(first.page, 20);
  const changed = countDifferent(before, await picture(first.page));
  assert.ok(changed > 1500, `${changed} pixels differ`);
});

test('keys pressed on the menu are not commands of the page, and it comes back to the town', { skip }, async () => {
  const { page } = second;
  await page.focus('#scene');
  await page.keyboard.press('KeyR');  // would reset the world
  assert.ok((await page.evaluate(() => window.__talus.counts().groups)) > 1);
  await page.selectOption('#scene', '0');
  for (const tab of [first, second]) {
    await until(tab.page, () => window.__talus.scenes().current === 0 && window.__talus.counts().blocks > 10_000);
    await until(tab.page, () => document.getElementById('act').hidden);
  }
  assert.deepEqual([...first.faults, ...second.faults], []);
});
