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
  private balls: ({ center: Vec3; radius: number } | undefined)[] = [];  // by slot: around its mesh, in its own frame
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

  /** Around everything that is drawn now, give or take; null when nothing is. */
  bounds(): Bounds | null {
    const low: Vec3 = [Infinity, Infinity, Infinity];
    const high: Vec3 = [-Infinity, -Infinity, -Infinity];
    this.balls.forEach((ball, slot) => {
      if (!ball || !this.poses.visible(slot)) return;
      const [px, py, pz, qx, qy, qz, qw] = this.poses.pose(slot);
      const turned = rotate([qx, qy, qz, qw], ball.center);
      [px, py, pz].forEach((p, axis) => {
        const middle = p + turned[axis]!;
        low[axis] = Math.min(low[axis]!, middle - ball.radius);
        high[axis] = Math.max(high[axis]!, middle + ball.radius);
      });
    });
    return low[0] <= high[0] ? { low, high } : null;
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
    this.balls[slot] = ballOf(change.mesh.positions);
    return slot;
  }

  private drop(slot: number): void {
    this.pool.remove(slot);
    this.balls[slot] = undefined;
    this.poses.release(slot);
  }
}

function ballOf(positions: Float32Array): { center: Vec3; radius: number } {
  const low: Vec3 = [Infinity, Infinity, Infinity];
  const high: Vec3 = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    const axis = i % 3;
    low[axis] = Math.min(low[axis]!, positions[i]!);
    high[axis] = Math.max(high[axis]!, positions[i]!);
  }
  if (positions.length === 0) return { center: [0, 0, 0], radius: 0 };
  const center: Vec3 = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2];
  return { center, radius: Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / 2 };
}
