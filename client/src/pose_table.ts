// pose_table.ts - poses of all pieces, packed as the vertex shader reads them from a float texture.
//
// Two RGBA32F texels a slot: (px, py, pz, visible 0 or 1) and (qx, qy, qz, qw). Row r holds slots r*kSlotsPerRow and on.
//
// Tests: tests/pose_table.test.ts

export const kSlotsPerRow = 256;
export const kTexelsPerRow = kSlotsPerRow * 2;
const kFloatsPerSlot = 8;

export class PoseTable {
  data: Float32Array<ArrayBuffer>;
  rows: number;
  /** Set when a pose differs from what was uploaded last. */
  dirty = false;
  private free: number[] = [];
  private next = 0;

  constructor(rows = 1) {
    this.rows = rows;
    this.data = new Float32Array(rows * kSlotsPerRow * kFloatsPerSlot);
  }

  /** Slots in use. */
  get count(): number {
    return this.next - this.free.length;
  }

  /** A new slot, not yet visible. */
  take(): number {
    const slot = this.free.pop() ?? this.next++;
    if (slot >= this.rows * kSlotsPerRow) this.growRows(this.rows * 2);
    return slot;
  }

  release(slot: number): void {
    this.hide(slot);
    this.free.push(slot);
  }

  hide(slot: number): void {
    this.write(slot, 0, 0, 0, 0, 0, 0, 0, 1);
  }

  set(slot: number, px: number, py: number, pz: number, qx = 0, qy = 0, qz = 0, qw = 1): void {
    this.write(slot, px, py, pz, 1, qx, qy, qz, qw);
  }

  /** From a core's array of eight floats each: px py pz 0 qx qy qz qw. */
  setFrom(slot: number, transforms: Float32Array, index: number): void {
    const o = index * 8;
    this.write(slot, transforms[o]!, transforms[o + 1]!, transforms[o + 2]!, 1,
      transforms[o + 4]!, transforms[o + 5]!, transforms[o + 6]!, transforms[o + 7]!);
  }

  visible(slot: number): boolean {
    return this.data[slot * kFloatsPerSlot + 3] === 1;
  }

  /** px py pz qx qy qz qw */
  pose(slot: number): [number, number, number, number, number, number, number] {
    const o = slot * kFloatsPerSlot;
    const d = this.data;
    return [d[o]!, d[o + 1]!, d[o + 2]!, d[o + 4]!, d[o + 5]!, d[o + 6]!, d[o + 7]!];
  }

  private write(slot: number, a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number): void {
    const o = slot * kFloatsPerSlot;
    const t = this.data;
    const before = this.scratch;
    before.set(t.subarray(o, o + kFloatsPerSlot));
    t[o] = a;
    t[o + 1] = b;
    t[o + 2] = c;
    t[o + 3] = d;
    t[o + 4] = e;
    t[o + 5] = f;
    t[o + 6] = g;
    t[o + 7] = h;
    if (!this.dirty) {
      for (let i = 0; i < kFloatsPerSlot; i++) {
        if (before[i] !== t[o + i]) {
          this.dirty = true;
          break;
        }
      }
    }
  }
  private scratch = new Float32Array(kFloatsPerSlot);

  private growRows(rows: number): void {
    const data = new Float32Array(rows * kSlotsPerRow * kFloatsPerSlot);
    data.set(this.data);
    this.data = data;
    this.rows = rows;
    this.dirty = true;
  }
}
