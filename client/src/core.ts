// core.ts - talus.wasm behind the interface of core_api.ts. No rules here: only memory and numbers carried across.

import type { Core } from './core_api';

/** Where the module comes from: its address, or its bytes. */
export type CoreSource = string | URL | BufferSource;

export async function loadCore(source: CoreSource): Promise<Core> {
  void source;
  throw new Error('talus.wasm is not built yet');
}
