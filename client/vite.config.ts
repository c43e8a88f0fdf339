import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// The core, as built by `cmake --preset wasm && cmake --build build/wasm`.
const kWasm = process.env['TALUS_WASM'] ?? fileURLToPath(new URL('../build/wasm/bin/talus.wasm', import.meta.url));

export default defineConfig({
  base: './',
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 2000 },
  server: {
    host: '127.0.0.1',
    // `npm run dev` beside a running `talus serve`.
    proxy: { '/ws': { target: `http://127.0.0.1:${process.env['TALUS_PORT'] ?? 8080}`, ws: true, changeOrigin: true } },
  },
  plugins: [
    {
      name: 'talus-wasm',
      configureServer(server) {
        server.middlewares.use((request, response, next) => {
          if (!request.url?.split('?')[0]?.endsWith('/talus.wasm')) return next();
          response.setHeader('Content-Type', 'application/wasm');
          response.end(readFileSync(kWasm));
        });
      },
      generateBundle() {
        if (!existsSync(kWasm)) this.error(`${kWasm} is missing: build the WebAssembly module first`);
        this.emitFile({ type: 'asset', fileName: 'talus.wasm', source: readFileSync(kWasm) });
      },
    },
  ],
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
