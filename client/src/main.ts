// main.ts - the page: loads the core, opens the socket of its own host, starts.
import { App } from './app';
import { loadCore } from './core';

async function main(): Promise<void> {
  const core = await loadCore(new URL('talus.wasm', document.baseURI));
  const address = new URL('ws', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  const app = new App(core, () => new WebSocket(address));
  window.__talus = app.hooks();
  app.start();
}

main().catch((error: unknown) => {
  const note = document.createElement('div');
  note.className = 'toast';
  note.dataset['kind'] = 'error';
  note.setAttribute('role', 'alert');
  note.textContent = `The page could not start: ${error instanceof Error ? error.message : String(error)}`;
  document.getElementById('toasts')?.append(note);
});
