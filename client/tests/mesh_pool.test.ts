import { describe, expect, it } from 'vitest';
import type { MeshData } from '../src/core_api';
import { MeshPool, kVertexBytes, mergeRanges } from '../src/mesh_pool';

/** A fan of `vertices` vertices around the first. */
function mesh(vertices: number, value = 1): MeshData {
  const indices: number[] = [];
  for (let i = 2; i < vertices; i++) indices.push(0, i - 1, i);
  return {
    positions: new Float32Array(vertices * 3).map((_, i) => value + i),
    normals: new Float32Array(vertices * 3).map((_, i) => [0, -1, 0][i % 3]!),
    colors: new Uint8Array(vertices * 4).map((_, i) => (value * 16 + i) & 255),
    indices: new Uint32Array(indices),
  };
}

describe('MeshPool', () => {
  it('packs a vertex as the shader reads it', () => {
    const pool = new MeshPool();
    pool.set(5, mesh(3, 2));
    const view = new DataView(pool.batches[0]!.vertices);
    const at = kVertexBytes;  // the second vertex
    expect([0, 4, 8].map((o) => view.getFloat32(at + o, true))).toEqual([5, 6, 7]);
    expect([12, 13, 14, 15].map((o) => view.getInt8(at + o))).toEqual([0, -127, 0, 0]);
    expect([16, 17, 18, 19].map((o) => view.getUint8(at + o))).toEqual([36, 37, 38, 39]);
    expect(view.getFloat32(at + 20, true)).toBe(5);
  });

  it('moves indices to the range of the vertices', () => {
    const pool = new MeshPool();
    pool.set(0, mesh(4));
    pool.set(1, mesh(3));
    expect([...pool.batches[0]!.indices.subarray(0, 9)]).toEqual([0, 1, 2, 0, 2, 3, 4, 5, 6]);
  });

  it('marks only what changed', () => {
    const pool = new MeshPool();
    for (let slot = 0; slot < 100; slot++) pool.set(slot, mesh(30));
    const batch = pool.batches[0]!;
    expect(batch.takeDirtyVertices()).toEqual([{ start: 0, end: 3000 }]);
    batch.takeDirtyIndices();
    expect(batch.takeDirtyVertices()).toEqual([]);
    pool.set(50, mesh(30, 3));
    expect(batch.takeDirtyVertices()).toEqual([{ start: 1500, end: 1530 }]);
    expect(batch.takeDirtyIndices()).toEqual([{ start: 50 * 84, end: 51 * 84 }]);
  });

  it('leaves triangles without area where a piece was', () => {
    const pool = new MeshPool();
    pool.set(0, mesh(4));
    pool.set(1, mesh(4));
    pool.remove(0);
    const batch = pool.batches[0]!;
    expect([...batch.indices.subarray(0, 6)]).toEqual([0, 0, 0, 0, 0, 0]);
    expect([pool.pieces, batch.pieces, batch.indexRanges.end]).toEqual([1, 1, 12]);
    pool.remove(1);
    expect([pool.pieces, pool.vertexCount, batch.indexRanges.end]).toEqual([0, 0, 0]);
  });

  it('grows one batch before it begins another, and keeps what it had', () => {
    const pool = new MeshPool(100_000, 1_000_000);
    for (let slot = 0; slot < 2000; slot++) pool.set(slot, mesh(24, slot));
    expect(pool.batches.length).toBe(1);
    expect(pool.batches[0]!.generation).toBeGreaterThan(0);
    expect(pool.vertexCount).toBe(48_000);
    expect(new DataView(pool.batches[0]!.vertices).getFloat32(1234 * 24 * kVertexBytes, true)).toBe(1234);
  });

  it('begins a second batch only when the first is full', () => {
    const pool = new MeshPool(1000, 10_000);
    for (let slot = 0; slot < 10; slot++) pool.set(slot, mesh(100));
    expect(pool.batches.length).toBe(1);
    pool.set(10, mesh(100));
    expect(pool.batches.length).toBe(2);
    pool.remove(3);
    pool.set(11, mesh(100));
    expect(pool.batches.map((batch) => batch.pieces)).toEqual([10, 1]);
  });

  it('takes a mesh bigger than a batch may be', () => {
    const pool = new MeshPool(100, 300);
    pool.set(0, mesh(500));
    expect(pool.vertexCount).toBe(500);
    expect(pool.triangleCount).toBe(498);
  });

  it('holds nothing of an empty mesh', () => {
    const pool = new MeshPool();
    pool.set(0, mesh(3));
    pool.set(0, mesh(0));
    expect([pool.pieces, pool.vertexCount]).toEqual([0, 0]);
  });
});

describe('mergeRanges', () => {
  it('joins ranges that touch or nearly do', () => {
    const ranges = [{ start: 50, end: 60 }, { start: 0, end: 10 }, { start: 12, end: 20 }, { start: 5, end: 8 }];
    expect(mergeRanges(ranges, 2)).toEqual([{ start: 0, end: 20 }, { start: 50, end: 60 }]);
  });
});
