// world_view.ts - what is on the screen: takes changes from the core and keeps the mesh pool and the pose table in step.
//
// Tests: tests/world_view.test.ts
import type { Core, MeshChange } from './core_api';
import { MeshPool } from './mesh_pool';
import { PoseTable } from './pose_table';

export class WorldView {
  readonly pool = new MeshPool();
  readonly poses = new PoseTable();
  private chunks = new Map<number, number>();  // chunk number -> slot
  private groups = new Map<number, number>();  // group number -> slot
  private ids = new Uint32Array(64);
  private transforms = new Float32Array(64 * 8);

  get groupCount(): number {
    return this.groups.size;
  }

  get chunkCount(): number {
    return this.chunks.size;
  }

  slotOfGroup(group: number): number | undefined {
    return this.groups.get(group);
  }

  groupIds(): number[] {
    return [...this.groups.keys()].sort((a, b) => a - b);
  }

  /** Everything off the screen: a new connection begins. */
  clear(): void {
    for (const slots of [this.chunks, this.groups]) {
      for (const slot of slots.values()) this.drop(slot);
      slots.clear();
    }
  }

  update(core: Core, nowSeconds: number): void {
    // The core moves its playback on in poses(); the changes it then reports are of the same moment. Reading them may
    // move the core's memory, so poses are copied first.
    const poses = core.poses(nowSeconds);
    const count = poses.count;
    if (this.transforms.length < count * 8) {
      this.ids = new Uint32Array(count * 2);
      this.transforms = new Float32Array(count * 16);
    }
    this.ids.set(poses.ids.subarray(0, count));
    this.transforms.set(poses.transforms.subarray(0, count * 8));

    for (const change of core.takeChunkChanges()) {
      const slot = this.apply(this.chunks, change);
      if (slot !== undefined) this.poses.set(slot, ...change.origin);
    }
    for (const change of core.takeGroupChanges()) this.apply(this.groups, change);
    for (let i = 0; i < count; i++) {
      const slot = this.groups.get(this.ids[i]!);
      if (slot !== undefined) this.poses.setFrom(slot, this.transforms, i);
    }
  }

  private apply(slots: Map<number, number>, change: MeshChange): number | undefined {
    let slot = slots.get(change.id);
    if (change.mesh === null) {
      if (slot !== undefined) this.drop(slot);
      slots.delete(change.id);
      return undefined;
    }
    if (slot === undefined) {
      slot = this.poses.take();
      slots.set(change.id, slot);
    }
    this.pool.set(slot, change.mesh);
    return slot;
  }

  private drop(slot: number): void {
    this.pool.remove(slot);
    this.poses.release(slot);
  }
}
