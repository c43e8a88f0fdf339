// support.mjs - what the page's tests share: Chromium, the server, pictures as pixels, files to upload.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

export const kRoot = fileURLToPath(new URL('../..', import.meta.url));
export const kServer = process.env.TALUS_BIN ?? path.join(kRoot, 'build/release/bin/talus');
export const kPage = path.join(kRoot, 'client/dist');
const kChromium = process.env.TALUS_CHROMIUM ?? '/usr/bin/chromium';
export const kWidth = 640;
export const kHeight = 360;
/** How long a wait may last before the test counts as hung; nothing is measured by it. */
export const kPatience = 180_000;

/** The client's npm packages, found from here too. */
export const clientRequire = createRequire(path.join(kRoot, 'client/package.json'));

/** Why tests in the browser can't run here, or false. */
export function browserMissing() {
  if (!existsSync(kChromium)) return `${kChromium} is not installed`;
  if (!existsSync(path.join(kRoot, 'client/node_modules/playwright-core'))) return 'client/node_modules is not installed';
  return false;
}

export function serverMissing() {
  if (!existsSync(kServer)) return `${kServer} is not built`;
  if (!existsSync(path.join(kPage, 'index.html'))) return 'client/dist is not built';
  return false;
}

/** A browser with a fresh profile. Draws are counted in the page by wrapping WebGL itself. */
export async function openBrowser() {
  const { chromium } = clientRequire('playwright-core');
  const profile = mkdtempSync(path.join(tmpdir(), 'talus-page-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: kChromium,
    headless: true,
    viewport: { width: kWidth, height: kHeight },
    deviceScaleFactor: 1,
    args: [
      '--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows', '--disable-background-timer-throttling',
    ],
  });
  context.setDefaultTimeout(kPatience);
  await context.addInitScript(() => {
    const draws = { now: 0, lastFrame: 0, most: 0, frames: 0 };
    for (const name of ['drawElements', 'drawArrays', 'drawElementsInstanced', 'drawArraysInstanced', 'drawRangeElements']) {
      const original = WebGL2RenderingContext.prototype[name];
      WebGL2RenderingContext.prototype[name] = function (...args) {
        draws.now++;
        return original.apply(this, args);
      };
    }
    const turn = () => {
      if (draws.now > 0) {
        draws.lastFrame = draws.now;
        draws.most = Math.max(draws.most, draws.now);
        draws.frames++;
      }
      draws.now = 0;
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
    window.__draws = draws;
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A tab on an address; `faults` collects what the page reports as an error. */
export async function openTab(browser, address) {
  const page = await browser.context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // A lost connection is reported by the browser itself: that is what the test of it provokes.
    if (message.type() === 'error' && !/WebSocket connection to/.test(message.text())) faults.push(message.text());
  });
  await page.goto(address);
  return { page, faults };
}

/** Waits until `condition` (run in the page, with `argument`) is true. */
export function until(page, condition, argument) {
  return page.waitForFunction(condition, argument, { timeout: kPatience, polling: 100 });
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for frames drawn after now. */
export async function frames(page, count) {
  const start = await page.evaluate(() => window.__draws.frames);
  await until(page, (wanted) => window.__draws.frames >= wanted, start + count);
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function get(port, target = '/') {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path: target, agent: false }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
    });
    request.on('error', reject);
  });
}

export { get };

/** Starts `talus serve` and waits until it answers. */
export async function startServer(port, ...args) {
  const server = spawn(kServer, ['serve', '--page', kPage, '--port', String(port), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  server.stdout.on('data', (part) => (said += part));
  server.stderr.on('data', (part) => (said += part));
  const ended = new Promise((resolve) => server.once('exit', (code, signal) => resolve(code ?? signal)));
  let over = false;
  void ended.then(() => (over = true));
  for (;;) {
    if (over) throw new Error(`the server ended (${await ended}): ${said}`);
    const answer = await get(port).catch(() => null);
    if (answer?.status === 200) break;
    await sleep(50);
  }
  return {
    said: () => said,
    async stop(signal = 'SIGTERM') {
      if (!over) server.kill(signal);
      return ended;
    },
  };
}

/** Tries to open a WebSocket by hand. @returns the status of the answer: 101 when it was let in */
export function knock(port, headers, target = '/ws') {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1', port, path: target, agent: false,
      headers: {
        Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': Buffer.from('0123456789abcdef').toString('base64'), ...headers,
      },
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode);
    });
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end();
  });
}

/** Lets go of files as if they were dragged from the desktop onto the page. */
export async function dropFile(page, name, bytes) {
  await page.evaluate(([fileName, base64]) => {
    const raw = atob(base64);
    const data = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) data[i] = raw.charCodeAt(i);
    const transfer = new DataTransfer();
    transfer.items.add(new File([data], fileName));
    const canvas = document.getElementById('view');
    for (const type of ['dragover', 'drop']) {
      canvas.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
    }
  }, [name, Buffer.from(bytes).toString('base64')]);
}

/** A MagicaVoxel file (z up) of voxels [x, y, z], all of one colour [r, g, b]. */
export function voxFile(size, voxels, [r, g, b]) {
  const chunk = (id, content, children = Buffer.alloc(0)) => {
    const head = Buffer.alloc(12);
    head.write(id, 0, 'latin1');
    head.writeInt32LE(content.length, 4);
    head.writeInt32LE(children.length, 8);
    return Buffer.concat([head, content, children]);
  };
  const sizes = Buffer.alloc(12);
  size.forEach((n, i) => sizes.writeInt32LE(n, 4 * i));
  const cells = Buffer.alloc(4 + 4 * voxels.length);
  cells.writeInt32LE(voxels.length, 0);
  voxels.forEach(([x, y, z], i) => cells.set([x, y, z, 1], 4 + 4 * i));
  const palette = Buffer.alloc(1024, 255);
  palette.set([r, g, b, 255], 0);
  const start = Buffer.alloc(8);
  start.write('VOX ', 0, 'latin1');
  start.writeInt32LE(150, 4);
  return Buffer.concat([start, chunk('MAIN', Buffer.alloc(0), Buffer.concat([chunk('SIZE', sizes), chunk('XYZI', cells), chunk('RGBA', palette)]))]);
}

/** Cells of a box, z up. */
export function boxVoxels(w, d, h) {
  const voxels = [];
  for (let z = 0; z < h; z++) for (let y = 0; y < d; y++) for (let x = 0; x < w; x++) voxels.push([x, y, z]);
  return voxels;
}

/** A picture of the canvas alone, without panels: { width, height, at(x, y) -> [r, g, b] }. */
export async function picture(page) {
  await page.addStyleTag({ content: '.panel, #toasts, #crosshair { visibility: hidden !important }' });
  return decodePng(await page.screenshot({ type: 'png' }));
}

/** PNG of 8 bits a channel, RGB or RGBA, not interlaced: what screenshots are. */
export function decodePng(bytes) {
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const [depth, kind, , , interlace] = bytes.subarray(24, 29);
  const channels = kind === 6 ? 4 : kind === 2 ? 3 : 0;
  if (depth !== 8 || channels === 0 || interlace !== 0) throw new Error('a kind of PNG this reader does not know');
  const parts = [];
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  const raw = zlib.inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const pixels = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; i++) {
      const left = i >= channels ? pixels[y * row + i - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * row + i] : 0;
      const corner = y > 0 && i >= channels ? pixels[(y - 1) * row + i - channels] : 0;
      let guess = 0;
      if (filter === 1) guess = left;
      else if (filter === 2) guess = up;
      else if (filter === 3) guess = (left + up) >> 1;
      else if (filter === 4) {
        const p = left + up - corner;
        const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
        guess = a <= b && a <= c ? left : b <= c ? up : corner;
      }
      pixels[y * row + i] = raw[y * (row + 1) + 1 + i] + guess;
    }
  }
  return { width, height, at: (x, y) => [...pixels.subarray((y * width + x) * channels, (y * width + x) * channels + 3)] };
}

export function countPixels(image, test, [x0, y0, x1, y1] = [0, 0, image.width, image.height]) {
  let count = 0;
  for (let y = Math.max(0, Math.floor(y0)); y < Math.min(image.height, y1); y++) {
    for (let x = Math.max(0, Math.floor(x0)); x < Math.min(image.width, x1); x++) if (test(image.at(x, y))) count++;
  }
  return count;
}

/** How many pixels of a region differ by more than dither and grain do. */
export function countDifferent(a, b, [x0, y0, x1, y1] = [0, 0, a.width, a.height]) {
  let count = 0;
  for (let y = Math.max(0, Math.floor(y0)); y < Math.min(a.height, y1); y++) {
    for (let x = Math.max(0, Math.floor(x0)); x < Math.min(a.width, x1); x++) {
      const [p, q] = [a.at(x, y), b.at(x, y)];
      if (p.some((value, i) => Math.abs(value - q[i]) > 24)) count++;
    }
  }
  return count;
}

export const isRed = ([r, g, b]) => r > 60 && r > 1.7 * g && r > 1.7 * b;
export const isBlue = ([r, g, b]) => b > 60 && b > 1.7 * r && b > 1.35 * g;
