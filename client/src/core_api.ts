// core_api.ts - what the page asks of the core (talus.wasm). The page draws and listens; every rule lives in the core.
//
// Units: metres, seconds; right-handed, +Y up. World positions are given relative to `origin`, so floats suffice.

/** Triangles of one terrain chunk or one group, in the chunk's or group's own frame. */
export interface MeshData {
  positions: Float32Array; // x y z per vertex
  normals: Float32Array;   // x y z per vertex
  colors: Uint8Array;      // r g b a per vertex; a = ambient occlusion (255 open .. 0 closed)
  indices: Uint32Array;
}

/** A mesh that appeared, changed (mesh set) or went (mesh null) since the last call. */
export interface MeshChange {
  id: number; // chunk number or group number; unique for the life of the connection
  mesh: MeshData | null;
  origin: [number, number, number]; // chunk: place of its frame; group: 0
}

/** Poses of every group at one moment, interpolated. Eight floats each: px py pz 0 qx qy qz qw. Views into core memory: copy or upload at once. */
export interface Poses {
  count: number;
  ids: Uint32Array;
  transforms: Float32Array;
}

export interface Pick {
  kind: 'none' | 'ground' | 'terrain' | 'group';
  group: number;
  cell: [number, number, number];
  point: [number, number, number];
  normal: [number, number, number]; // world
  distance: number;
}

export interface Player {
  position: [number, number, number]; // feet
  velocity: [number, number, number];
  flying: boolean;
  onGround: boolean;
}

export interface Stats {
  connected: boolean; // a Welcome has been decoded
  tick: number;
  groups: number;
  awake: number;
  blocks: number;
  tickMs: number;
  ground: number | null; // height of the flat floor
  welcomes: number; // worlds received since the connection began: a new one may bring another menu
  bounds: [number, number, number, number, number, number]; // of everything at the last welcome: a camera can frame it
}

/** Something to show once: dust where blocks broke, a flash where a charge went off. */
export interface Effect {
  kind: 'blast' | 'dust' | 'impact' | 'broken';
  point: [number, number, number];
  value: number; // power, impulse or count
  color: number; // 0xRRGGBB of the block, 0 when none
}

/** Words of the server for this page alone: an upload that stands, or why it was refused. */
export interface Notice {
  error: boolean;
  text: string;
}

/** The worlds the server offers; each but the first has an action that brings it down. */
export interface SceneMenu {
  entries: { title: string; action: string }[];
  current: number;
}

/** Once per frame: poses(now) first (it moves playback on), then take...Changes(), which are of the same moment. */
export interface Core {
  /** Forgets everything: a new connection starts. */
  reset(): void;
  /** One binary message of the server. Throws Error with a plain reason when it is malformed (the page then reconnects). */
  receive(message: Uint8Array, nowSeconds: number): void;
  takeChunkChanges(): MeshChange[];
  takeGroupChanges(): MeshChange[];
  takeEffects(): Effect[];
  takeNotices(): Notice[];
  /** Poses at `nowSeconds`, played back a little behind the newest snapshot so that motion between 20 Hz snapshots is smooth. */
  poses(nowSeconds: number): Poses;
  /** First block along a ray, through every group's own grid. Direction need not be unit. */
  pick(origin: [number, number, number], direction: [number, number, number], reach: number): Pick;
  /** Moves the player for dt seconds: carried by what it stands on, pushed out of solids, then its own movement (wish = wanted velocity, world axes; jump). */
  movePlayer(player: Player, wish: [number, number, number], jump: boolean, dt: number, nowSeconds: number): Player;
  stats(): Stats;
  scenes(): SceneMenu;
  // Messages to send to the server, encoded.
  encodeBlast(point: [number, number, number], power: number): Uint8Array;
  encodeDig(pick: Pick): Uint8Array;
  encodeUpload(name: string, bytes: Uint8Array): Uint8Array;
  encodeReset(): Uint8Array;
  encodeScene(number: number): Uint8Array;
  encodeAct(): Uint8Array;
}
