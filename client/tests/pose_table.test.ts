import { describe, expect, it } from 'vitest';
import { PoseTable, kSlotsPerRow } from '../src/pose_table';

describe('PoseTable', () => {
  it('packs two texels a slot', () => {
    const table = new PoseTable();
    const a = table.take();
    const b = table.take();
    table.set(b, 1, 2, 3, 0.5, 0.5, 0.5, 0.5);
    expect([a, b]).toEqual([0, 1]);
    expect([...table.data.subarray(8, 16)]).toEqual([1, 2, 3, 1, 0.5, 0.5, 0.5, 0.5]);
  });

  it('reads the core array by index', () => {
    const table = new PoseTable();
    const slot = table.take();
    table.setFrom(slot, new Float32Array([0, 0, 0, 0, 0, 0, 0, 1, 4, 5, 6, 0, 0, 1, 0, 0]), 1);
    expect(table.pose(slot)).toEqual([4, 5, 6, 0, 1, 0, 0]);
    expect(table.visible(slot)).toBe(true);
  });

  it('hides a slot until it has a pose, and again when it is released', () => {
    const table = new PoseTable();
    const slot = table.take();
    expect(table.visible(slot)).toBe(false);
    table.set(slot, 1, 1, 1);
    table.release(slot);
    expect(table.visible(slot)).toBe(false);
    expect(table.count).toBe(0);
    expect(table.take()).toBe(slot);
  });

  it('is dirty only when a number changed', () => {
    const table = new PoseTable();
    const slot = table.take();
    table.set(slot, 1, 2, 3);
    expect(table.dirty).toBe(true);
    table.dirty = false;
    table.set(slot, 1, 2, 3);
    expect(table.dirty).toBe(false);
    table.set(slot, 1, 2, 3.25);
    expect(table.dirty).toBe(true);
  });

  it('grows by rows and keeps poses', () => {
    const table = new PoseTable();
    for (let i = 0; i < kSlotsPerRow + 1; i++) table.set(table.take(), i, 0, 0);
    expect(table.rows).toBe(2);
    expect(table.data.length).toBe(2 * kSlotsPerRow * 8);
    expect(table.pose(17)[0]).toBe(17);
    expect(table.pose(kSlotsPerRow)[0]).toBe(kSlotsPerRow);
  });
});
