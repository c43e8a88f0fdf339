// mesh_pool.ts - the meshes of all pieces in a few big vertex and index buffers, so that they are drawn in a few calls.
//
// A piece owns one range of vertices and one of indices in some batch. Each vertex carries its piece's slot, by which the
// vertex shader finds the pose; moving a piece therefore never touches a vertex. A freed range of indices is zeroed: its
// triangles have no area. This file knows no graphics API: the renderer uploads what is marked dirty.
//
//   vertex, 24 bytes: | position 3 x f32 | normal 3 x i8, 0 | colour 4 x u8 | slot f32 |
//
// Tests: tests/mesh_pool.test.ts
import type { MeshData } from './core_api';
import { RangeAllocator } from './range_allocator';

export const kVertexBytes = 24;
const kVertexWords = kVertexBytes / 4;
const kFirstVertices = 1 << 14;
const kFirstIndices = 1 << 15;
const kMaxVertices = 1 << 20;
const kMaxIndices = 3 << 19;
/** Two dirty ranges closer than this many elements are uploaded as one. */
const kUploadGap = 256;

export interface DirtyRange {
  start: number;
  end: number;
}

/** One set of buffers, drawn by one call. */
export class Batch {
  readonly vertexRanges: RangeAllocator;
  readonly indexRanges: RangeAllocator;
  vertices: ArrayBuffer;
  indices: Uint32Array<ArrayBuffer>;
  /** Changes when the buffers were replaced by bigger ones: then everything has to be uploaded. */
  generation = 0;
  pieces = 0;
  private dirtyVertices: DirtyRange[] = [];
  private dirtyIndices: DirtyRange[] = [];

  constructor(vertexCount: number, indexCount: number) {
    this.vertexRanges = new RangeAllocator(vertexCount);
    this.indexRanges = new RangeAllocator(indexCount);
    this.vertices = new ArrayBuffer(vertexCount * kVertexBytes);
    this.indices = new Uint32Array(indexCount);
  }

  growTo(vertexCount: number, indexCount: number): void {
    const vertices = new ArrayBuffer(Math.max(vertexCount, this.vertexRanges.capacity) * kVertexBytes);
    new Uint8Array(vertices).set(new Uint8Array(this.vertices));
    const indices = new Uint32Array(Math.max(indexCount, this.indexRanges.capacity));
    indices.set(this.indices);
    this.vertices = vertices;
    this.indices = indices;
    this.vertexRanges.grow(vertexCount);
    this.indexRanges.grow(indexCount);
    this.generation++;
    this.dirtyVertices = [];
    this.dirtyIndices = [];
  }

  markVertices(start: number, count: number): void {
    if (count > 0) this.dirtyVertices.push({ start, end: start + count });
  }

  markIndices(start: number, count: number): void {
    if (count > 0) this.dirtyIndices.push({ start, end: start + count });
  }

  takeDirtyVertices(): DirtyRange[] {
    const ranges = mergeRanges(this.dirtyVertices, kUploadGap);
    this.dirtyVertices = [];
    return ranges;
  }

  takeDirtyIndices(): DirtyRange[] {
    const ranges = mergeRanges(this.dirtyIndices, kUploadGap);
    this.dirtyIndices = [];
    return ranges;
  }
}

export function mergeRanges(ranges: DirtyRange[], gap: number): DirtyRange[] {
  if (ranges.length < 2) return ranges;
  ranges.sort((a, b) => a.start - b.start || a.end - b.end);
  const merged: DirtyRange[] = [{ ...ranges[0]! }];
  for (const range of ranges) {
    const last = merged[merged.length - 1]!;
    if (range.start <= last.end + gap) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}

interface Place {
  batch: Batch;
  vertexStart: number;
  vertexCount: number;
  indexStart: number;
  indexCount: number;
}

export class MeshPool {
  readonly batches: Batch[] = [];
  private places = new Map<number, Place>();
  /** Counts every change of a mesh, so that a renderer can tell whether shadows are stale. */
  version = 0;

  constructor(
    private maxVertices = kMaxVertices,
    private maxIndices = kMaxIndices,
  ) {}

  get pieces(): number {
    return this.places.size;
  }

  get vertexCount(): number {
    return this.batches.reduce((sum, batch) => sum + batch.vertexRanges.used, 0);
  }

  get triangleCount(): number {
    return this.batches.reduce((sum, batch) => sum + batch.indexRanges.used / 3, 0);
  }

  /** Sets or replaces the mesh of the piece in a slot. */
  set(slot: number, mesh: MeshData): void {
    this.remove(slot);
    const vertexCount = mesh.positions.length / 3;
    const indexCount = mesh.indices.length;
    if (vertexCount === 0 || indexCount === 0) return;
    const place = this.find(vertexCount, indexCount);
    this.places.set(slot, place);
    place.batch.pieces++;
    this.version++;
    writeVertices(place.batch.vertices, place.vertexStart, mesh, slot);
    const { indices } = place.batch;
    for (let i = 0; i < indexCount; i++) indices[place.indexStart + i] = place.vertexStart + mesh.indices[i]!;
    place.batch.markVertices(place.vertexStart, vertexCount);
    place.batch.markIndices(place.indexStart, indexCount);
  }

  remove(slot: number): void {
    const place = this.places.get(slot);
    if (!place) return;
    this.places.delete(slot);
    this.version++;
    const { batch } = place;
    batch.pieces--;
    batch.indices.fill(0, place.indexStart, place.indexStart + place.indexCount);
    batch.markIndices(place.indexStart, place.indexCount);
    batch.vertexRanges.free(place.vertexStart, place.vertexCount);
    batch.indexRanges.free(place.indexStart, place.indexCount);
  }

  clear(): void {
    for (const slot of [...this.places.keys()]) this.remove(slot);
  }

  private find(vertexCount: number, indexCount: number): Place {
    for (const batch of this.batches) {
      const place = this.tryPlace(batch, vertexCount, indexCount);
      if (place) return place;
    }
    // No gap anywhere: the last batch grows while it may, then a new one begins.
    const last = this.batches[this.batches.length - 1];
    if (last) {
      const vertices = grown(last.vertexRanges, vertexCount, this.maxVertices);
      const indices = grown(last.indexRanges, indexCount, this.maxIndices);
      if (vertices > 0 && indices > 0) {
        last.growTo(vertices, indices);
        return this.tryPlace(last, vertexCount, indexCount)!;
      }
    }
    const batch = new Batch(
      Math.max(vertexCount, Math.min(kFirstVertices, this.maxVertices)),
      Math.max(indexCount, Math.min(kFirstIndices, this.maxIndices)),
    );
    this.batches.push(batch);
    return this.tryPlace(batch, vertexCount, indexCount)!;
  }

  private tryPlace(batch: Batch, vertexCount: number, indexCount: number): Place | null {
    const vertexStart = batch.vertexRanges.allocate(vertexCount);
    if (vertexStart < 0) return null;
    const indexStart = batch.indexRanges.allocate(indexCount);
    if (indexStart < 0) {
      batch.vertexRanges.free(vertexStart, vertexCount);
      return null;
    }
    return { batch, vertexStart, vertexCount, indexStart, indexCount };
  }
}

/** The capacity at which `count` more surely fit behind the last range, doubled from what there is; 0 when over the limit. */
function grown(ranges: RangeAllocator, count: number, limit: number): number {
  const needed = ranges.end + count;
  if (needed <= ranges.capacity) return ranges.capacity;
  if (needed > limit) return 0;
  return Math.min(limit, Math.max(needed, ranges.capacity * 2));
}

function writeVertices(target: ArrayBuffer, start: number, mesh: MeshData, slot: number): void {
  const count = mesh.positions.length / 3;
  const floats = new Float32Array(target, start * kVertexBytes, count * kVertexWords);
  const bytes = new Uint8Array(target, start * kVertexBytes, count * kVertexBytes);
  const { positions, normals, colors } = mesh;
  for (let i = 0; i < count; i++) {
    const f = i * kVertexWords;
    const b = i * kVertexBytes;
    floats[f] = positions[3 * i]!;
    floats[f + 1] = positions[3 * i + 1]!;
    floats[f + 2] = positions[3 * i + 2]!;
    bytes[b + 12] = Math.round(normals[3 * i]! * 127) & 255;
    bytes[b + 13] = Math.round(normals[3 * i + 1]! * 127) & 255;
    bytes[b + 14] = Math.round(normals[3 * i + 2]! * 127) & 255;
    bytes[b + 15] = 0;
    bytes[b + 16] = colors[4 * i]!;
    bytes[b + 17] = colors[4 * i + 1]!;
    bytes[b + 18] = colors[4 * i + 2]!;
    bytes[b + 19] = colors[4 * i + 3]!;
    floats[f + 5] = slot;
  }
}
