// core.ts - talus.wasm behind the interface of core_api.ts. No rules here: only memory and numbers carried across.
//
// The module's memory may move with any call, so views are made anew and what is handed out is a copy.
// The other side, with the layout of records: bindings/wasm/talus_wasm.cpp.

import type { Core, Effect, MeshChange, Notice, Pick, Player, Poses, SceneMenu, Stats } from './core_api';

/** Where the module comes from: its address, or its bytes. */
export type CoreSource = string | URL | ArrayBuffer | Uint8Array;

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  numbers(): number;
  buffer(size: number): number;
  drop_buffer(): void;
  out_bytes(): number;
  out_size(): number;
  reset(): void;
  receive(now: number): number;
  take_chunk_changes(): number;
  take_group_changes(): number;
  records(): number;
  drop_records(): void;
  take_effects(): number;
  effects(): number;
  take_notices(): number;
  notice(index: number): number;
  poses(now: number): number;
  pose_ids(): number;
  pose_transforms(): number;
  pick(): void;
  move_player(): void;
  stats(): void;
  scenes(): number;
  scene_title(index: number): void;
  scene_action(index: number): void;
  encode_blast(x: number, y: number, z: number, power: number): number;
  encode_dig(group: number, x: number, y: number, z: number): number;
  encode_upload(nameSize: number): number;
  encode_reset(): number;
  encode_scene(number: number): number;
  encode_act(): number;
}

const kChangeBytes = 56;
const kEffectBytes = 40;
const kPickKinds: readonly Pick['kind'][] = ['none', 'ground', 'terrain', 'group'];
const kEffectKinds: readonly Effect['kind'][] = ['blast', 'dust', 'impact', 'broken'];

async function instantiate(source: CoreSource): Promise<WebAssembly.Instance> {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return (await WebAssembly.instantiate(source as BufferSource, {})).instance;
  }
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${String(source)}: ${response.status} ${response.statusText}`);
  return (await WebAssembly.instantiate(await response.arrayBuffer(), {})).instance;
}

export async function loadCore(source: CoreSource): Promise<Core> {
  const instance = await instantiate(source);
  const core = instance.exports as unknown as Exports;
  core._initialize();
  return new WasmCore(core);
}

class WasmCore implements Core {
  private ids = new Uint32Array(0);
  private transforms = new Float32Array(0);
  private readonly text = new TextDecoder();

  constructor(private readonly core: Exports) {}

  reset(): void {
    this.core.reset();
  }

  receive(message: Uint8Array, nowSeconds: number): void {
    const at = this.core.buffer(message.length);
    new Uint8Array(this.core.memory.buffer, at, message.length).set(message);
    const well = this.core.receive(nowSeconds);
    if (message.length > 65536) this.core.drop_buffer();
    if (!well) throw new Error(this.outText());
  }

  takeChunkChanges(): MeshChange[] {
    return this.changes(this.core.take_chunk_changes());
  }

  takeGroupChanges(): MeshChange[] {
    return this.changes(this.core.take_group_changes());
  }

  takeEffects(): Effect[] {
    const count = this.core.take_effects();
    const view = new DataView(this.core.memory.buffer, this.core.effects(), count * kEffectBytes);
    return Array.from({ length: count }, (_, i): Effect => {
      const at = i * kEffectBytes;
      return {
        kind: kEffectKinds[view.getUint32(at + 32, true)] ?? 'dust',
        point: [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)],
        value: view.getFloat32(at + 24, true),
        color: view.getUint32(at + 28, true),
      };
    });
  }

  takeNotices(): Notice[] {
    const count = this.core.take_notices();
    return Array.from({ length: count }, (_, i): Notice => {
      const error = this.core.notice(i) !== 0;
      return { error, text: this.outText() };
    });
  }

  poses(nowSeconds: number): Poses {
    const count = this.core.poses(nowSeconds);
    if (this.ids.length < count) {
      this.ids = new Uint32Array(count * 2);
      this.transforms = new Float32Array(count * 16);
    }
    const { buffer } = this.core.memory;
    this.ids.set(new Uint32Array(buffer, this.core.pose_ids(), count));
    this.transforms.set(new Float32Array(buffer, this.core.pose_transforms(), count * 8));
    return { count, ids: this.ids.subarray(0, count), transforms: this.transforms.subarray(0, count * 8) };
  }

  pick(origin: [number, number, number], direction: [number, number, number], reach: number): Pick {
    this.numbers().set([...origin, ...direction, reach]);
    this.core.pick();
    const n = this.numbers();
    return {
      kind: kPickKinds[n[0]!] ?? 'none',
      group: n[1]!,
      cell: [n[2]!, n[3]!, n[4]!],
      point: [n[5]!, n[6]!, n[7]!],
      normal: [n[8]!, n[9]!, n[10]!],
      distance: n[11]!,
    };
  }

  movePlayer(player: Player, wish: [number, number, number], jump: boolean, dt: number, nowSeconds: number): Player {
    this.numbers().set([
      ...player.position, ...player.velocity, Number(player.flying), Number(player.onGround),
      ...wish, Number(jump), dt, nowSeconds,
    ]);
    this.core.move_player();
    const n = this.numbers();
    return {
      position: [n[0]!, n[1]!, n[2]!],
      velocity: [n[3]!, n[4]!, n[5]!],
      flying: n[6] !== 0,
      onGround: n[7] !== 0,
    };
  }

  stats(): Stats {
    this.core.stats();
    const n = this.numbers();
    return {
      connected: n[0] !== 0,
      tick: n[1]!,
      groups: n[2]!,
      awake: n[3]!,
      blocks: n[4]!,
      tickMs: n[5]!,
      ground: n[6] !== 0 ? n[7]! : null,
      welcomes: n[17]!,
      bounds: [n[8]!, n[9]!, n[10]!, n[11]!, n[12]!, n[13]!],
    };
  }

  scenes(): SceneMenu {
    const count = this.core.scenes();
    const current = this.numbers()[0]!;
    const entries = Array.from({ length: count }, (_, i) => {
      this.core.scene_title(i);
      const title = this.outText();
      this.core.scene_action(i);
      return { title, action: this.outText() };
    });
    return { entries, current };
  }

  encodeBlast(point: [number, number, number], power: number): Uint8Array {
    return this.outBytes(this.core.encode_blast(...point, power));
  }

  encodeDig(pick: Pick): Uint8Array {
    return this.outBytes(this.core.encode_dig(pick.kind === 'group' ? pick.group : 0, ...pick.cell));
  }

  encodeUpload(name: string, bytes: Uint8Array): Uint8Array {
    const title = new TextEncoder().encode(name);
    const at = this.core.buffer(title.length + bytes.length);
    const buffer = new Uint8Array(this.core.memory.buffer, at, title.length + bytes.length);
    buffer.set(title);
    buffer.set(bytes, title.length);
    const size = this.core.encode_upload(title.length);
    this.core.drop_buffer();
    return this.outBytes(size);
  }

  encodeReset(): Uint8Array {
    return this.outBytes(this.core.encode_reset());
  }

  encodeScene(number: number): Uint8Array {
    return this.outBytes(this.core.encode_scene(number));
  }

  encodeAct(): Uint8Array {
    return this.outBytes(this.core.encode_act());
  }

  private numbers(): Float64Array {
    const at = this.core.numbers();
    return new Float64Array(this.core.memory.buffer, at, 32);
  }

  private outBytes(size: number): Uint8Array {
    return new Uint8Array(this.core.memory.buffer, this.core.out_bytes(), size).slice();
  }

  private outText(): string {
    return this.text.decode(this.outBytes(this.core.out_size()));
  }

  private changes(count: number): MeshChange[] {
    const { buffer } = this.core.memory;
    const view = new DataView(buffer, this.core.records(), count * kChangeBytes);
    const changes = Array.from({ length: count }, (_, i): MeshChange => {
      const at = i * kChangeBytes;
      const field = (n: number): number => view.getUint32(at + 24 + 4 * n, true);
      const vertices = field(6);
      return {
        id: field(0),
        origin: [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)],
        mesh: field(1) === 0 ? null : {
          positions: new Float32Array(buffer, field(2), vertices * 3).slice(),
          normals: new Float32Array(buffer, field(3), vertices * 3).slice(),
          colors: new Uint8Array(buffer, field(4), vertices * 4).slice(),
          indices: new Uint32Array(buffer, field(5), field(7)).slice(),
        },
      };
    });
    this.core.drop_records();
    return changes;
  }
}
