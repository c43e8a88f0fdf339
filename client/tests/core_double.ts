// core_double.ts - stands in for talus.wasm in tests of the page: a scene with moving pieces, no rules.
import type { Core, Effect, MeshChange, MeshData, Notice, Pick, Player, Poses, SceneMenu, Stats } from '../src/core_api';

export interface DoubleGroup {
  id: number;
  mesh: MeshData;
  /** px py pz qx qy qz qw at a time */
  pose: (seconds: number) => [number, number, number, number, number, number, number];
}

export class CoreDouble implements Core {
  chunkChanges: MeshChange[] = [];
  groupChanges: MeshChange[] = [];
  effects: Effect[] = [];
  notices: Notice[] = [];
  groups: DoubleGroup[] = [];
  received: Uint8Array[] = [];
  resets = 0;
  state: Stats = { connected: true, tick: 0, groups: 0, awake: 0, blocks: 0, tickMs: 0, ground: 0, welcomes: 1, bounds: [-30, 0, -30, 30, 20, 30] };

  addGroup(group: DoubleGroup): void {
    this.groups.push(group);
    this.groupChanges.push({ id: group.id, mesh: group.mesh, origin: [0, 0, 0] });
    this.state.groups = this.groups.length;
  }
  removeGroup(id: number): void {
    this.groups = this.groups.filter((group) => group.id !== id);
    this.groupChanges.push({ id, mesh: null, origin: [0, 0, 0] });
    this.state.groups = this.groups.length;
  }

  reset(): void {
    this.resets++;
  }
  receive(message: Uint8Array): void {
    this.received.push(message);
  }
  takeChunkChanges(): MeshChange[] {
    return this.chunkChanges.splice(0);
  }
  takeGroupChanges(): MeshChange[] {
    return this.groupChanges.splice(0);
  }
  takeEffects(): Effect[] {
    return this.effects.splice(0);
  }
  takeNotices(): Notice[] {
    return this.notices.splice(0);
  }
  poses(seconds: number): Poses {
    const transforms = new Float32Array(this.groups.length * 8);
    this.groups.forEach((group, i) => {
      const p = group.pose(seconds);
      transforms.set([p[0], p[1], p[2], 0, p[3], p[4], p[5], p[6]], i * 8);
    });
    return { count: this.groups.length, ids: new Uint32Array(this.groups.map((group) => group.id)), transforms };
  }
  pick(): Pick {
    return { kind: 'none', group: 0, cell: [0, 0, 0], point: [0, 0, 0], normal: [0, 1, 0], distance: 0 };
  }
  movePlayer(player: Player, wish: [number, number, number], _jump: boolean, dt: number): Player {
    const p = player.position;
    return { ...player, position: [p[0] + wish[0] * dt, p[1] + wish[1] * dt, p[2] + wish[2] * dt] };
  }
  stats(): Stats {
    return this.state;
  }
  scenes(): SceneMenu {
    return { entries: [], current: 0 };
  }
  encodeBlast(): Uint8Array {
    return new Uint8Array([1]);
  }
  encodeDig(): Uint8Array {
    return new Uint8Array([2]);
  }
  encodeUpload(): Uint8Array {
    return new Uint8Array([3]);
  }
  encodeReset(): Uint8Array {
    return new Uint8Array([4]);
  }
  encodeScene(): Uint8Array {
    return new Uint8Array([5]);
  }
  encodeAct(): Uint8Array {
    return new Uint8Array([6]);
  }
}
