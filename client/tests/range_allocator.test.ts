import { describe, expect, it } from 'vitest';
import { RangeAllocator } from '../src/range_allocator';

describe('RangeAllocator', () => {
  it('hands out ranges from the front', () => {
    const a = new RangeAllocator(10);
    expect([a.allocate(3), a.allocate(4)]).toEqual([0, 3]);
    expect([a.used, a.end]).toEqual([7, 7]);
  });

  it('says -1 when no gap is wide enough, and fits exactly', () => {
    const a = new RangeAllocator(10);
    expect(a.allocate(11)).toBe(-1);
    expect(a.allocate(10)).toBe(0);
    expect(a.allocate(1)).toBe(-1);
    expect(a.end).toBe(10);
  });

  it('merges what is freed with both neighbours', () => {
    const a = new RangeAllocator(9);
    const [x, y, z] = [a.allocate(3), a.allocate(3), a.allocate(3)];
    a.free(x, 3);
    a.free(z, 3);
    expect(a.allocate(4)).toBe(-1);
    expect(a.end).toBe(6);
    a.free(y, 3);
    expect(a.allocate(9)).toBe(0);
  });

  it('fills the first gap', () => {
    const a = new RangeAllocator(20);
    for (let i = 0; i < 5; i++) a.allocate(4);
    a.free(4, 4);
    a.free(12, 4);
    expect(a.allocate(3)).toBe(4);
    expect(a.allocate(4)).toBe(12);
    expect(a.allocate(1)).toBe(7);
  });

  it('grows behind a free end as one gap', () => {
    const a = new RangeAllocator(8);
    a.allocate(6);
    a.grow(16);
    expect(a.allocate(10)).toBe(6);
    expect(a.capacity).toBe(16);
  });

  it('refuses to free what is not in use', () => {
    const a = new RangeAllocator(8);
    a.allocate(4);
    expect(() => a.free(2, 4)).toThrow(RangeError);
    expect(() => a.free(4, 2)).toThrow(RangeError);
    a.free(0, 4);
    expect(() => a.free(0, 4)).toThrow(RangeError);
  });

  it('never hands out the same element twice in a long random run', () => {
    const a = new RangeAllocator(512);
    const owner = new Int32Array(512).fill(-1);
    const live = new Map<number, [number, number]>();
    let seed = 7;
    const random = (n: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
      return (seed >> 8) % n;
    };
    for (let step = 0; step < 5000; step++) {
      if (random(2) === 0) {
        const count = 1 + random(40);
        const start = a.allocate(count);
        if (start < 0) continue;
        for (let i = start; i < start + count; i++) {
          expect(owner[i]).toBe(-1);
          owner[i] = step;
        }
        live.set(step, [start, count]);
      } else if (live.size > 0) {
        const [key, [start, count]] = [...live][random(live.size)]!;
        owner.fill(-1, start, start + count);
        a.free(start, count);
        live.delete(key);
      }
      let used = 0;
      let end = 0;
      owner.forEach((o, i) => {
        if (o >= 0) {
          used++;
          end = i + 1;
        }
      });
      expect([a.used, a.end]).toEqual([used, end]);
    }
  });
});
