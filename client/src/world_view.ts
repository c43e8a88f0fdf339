// world_view.ts - what is on the screen: takes changes from the core and keeps the mesh pool and the pose table in step.
//
// Tests: tests/world_view.test.ts
import type { Core, MeshChange } from './core_api';
import { MeshPool } from './mesh_pool';
import { PoseTable } from './pose_table';
import { rotate, type Vec3 } from './vector';

export interface Bounds {
  low: Vec3;
  high: Vec3;
}

export class WorldView {
  readonly pool = new MeshPool();
  readonly poses = new PoseTable();
  private chunks = new Map<number, number>();  // chunk number -> slot
  private groups = new Map<number, number>();  // group number -> slot
  private boxes: ({ center: Vec3; half: Vec3 } | undefined)[] = [];  // by slot: around its mesh, in its own frame
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

  /** Around everything that is drawn now; null when nothing is. Exact for pieces that are not turned. */
  bounds(): Bounds | null {
    const low: Vec3 = [Infinity, Infinity, Infinity];
    const high: Vec3 = [-Infinity, -Infinity, -Infinity];
    for (const piece of this.pieceBounds()) {
      for (let axis = 0; axis < 3; axis++) {
        low[axis] = Math.min(low[axis]!, piece.low[axis]!);
        high[axis] = Math.max(high[axis]!, piece.high[axis]!);
      }
    }
    return low[0] <= high[0] ? { low, high } : null;
  }

  /** Around each piece that is drawn now. */
  pieceBounds(): Bounds[] {
    const all: Bounds[] = [];
    this.boxes.forEach((box, slot) => {
      if (!box || !this.poses.visible(slot)) return;
      const [px, py, pz, ...q] = this.poses.pose(slot);
      const middle = rotate(q, box.center);
      const sides = [0, 1, 2].map((axis) => rotate(q, [0, 1, 2].map((i) => (i === axis ? box.half[axis]! : 0)) as Vec3));
      const low: Vec3 = [px + middle[0], py + middle[1], pz + middle[2]];
      const high: Vec3 = [...low];
      for (const side of sides) {
        for (let axis = 0; axis < 3; axis++) {
          low[axis] = low[axis]! - Math.abs(side[axis]!);
          high[axis] = high[axis]! + Math.abs(side[axis]!);
        }
      }
      all.push({ low, high });
    });
    return all;
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
    this.boxes[slot] = boxOf(change.mesh.positions);
    return slot;
  }

  private drop(slot: number): void {
    this.pool.remove(slot);
    this.boxes[slot] = undefined;
    this.poses.release(slot);
  }
}

function boxOf(positions: Float32Array): { center: Vec3; half: Vec3 } {
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    const axis = i % 3;
    low[axis] = Math.min(low[axis]!, positions[i]!);
    high[axis] = Math.max(high[axis]!, positions[i]!);
  }
  if (positions.length === 0) return { center: [0, 0, 0], half: [0, 0, 0] };
  return {
    center: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2],
    half: [(high[0] - low[0]) / 2, (high[1] - low[1]) / 2, (high[2] - low[2]) / 2],
  };
}
