// run.mjs - runs the page's tests one file after the other: node tests/page/run.mjs. Prints TAP; exit 1 when one failed.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { tap } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && (wanted.length === 0 || wanted.some((w) => name.includes(w)))).sort();

run({ files: files.map((name) => path.join(here, name)), concurrency: 1 })
  .on('test:fail', () => (process.exitCode = 1))
  .compose(tap)
  .pipe(process.stdout);
