import { describe, expect, it } from 'vitest';
import { WorldView } from '../src/world_view';
import { CoreDouble } from './core_double';
import { Voxels } from './voxels';

function cube() {
  const v = new Voxels();
  v.set(0, 0, 0, 0x808080);
  return v.mesh();
}

describe('WorldView', () => {
  it('draws chunks at their place and groups at their pose', () => {
    const core = new CoreDouble();
    core.chunkChanges.push({ id: 1, mesh: cube(), origin: [16, 0, 32] });
    core.addGroup({ id: 1, mesh: cube(), pose: (t) => [t, 0, 0, 0, 0, 0, 1] });
    const view = new WorldView();
    view.update(core, 2);
    expect([view.chunkCount, view.groupCount, view.pool.pieces]).toEqual([1, 1, 2]);
    expect(view.poses.pose(view.slotOfGroup(1)!)[0]).toBe(2);
    view.update(core, 3);
    expect(view.poses.pose(view.slotOfGroup(1)!)[0]).toBe(3);
    expect(view.poses.pose(0).slice(0, 3)).toEqual([16, 0, 32]);
  });

  it('a new pose changes no mesh', () => {
    const core = new CoreDouble();
    for (let i = 0; i < 50; i++) core.addGroup({ id: i, mesh: cube(), pose: (t) => [t, i, 0, 0, 0, 0, 1] });
    const view = new WorldView();
    view.update(core, 0);
    const version = view.pool.version;
    view.pool.batches[0]!.takeDirtyVertices();
    view.poses.dirty = false;
    view.update(core, 1);
    expect(view.pool.version).toBe(version);
    expect(view.pool.batches[0]!.takeDirtyVertices()).toEqual([]);
    expect(view.poses.dirty).toBe(true);
  });

  it('keeps the slot of a group whose mesh changes, and frees it when it goes', () => {
    const core = new CoreDouble();
    core.addGroup({ id: 9, mesh: cube(), pose: () => [0, 0, 0, 0, 0, 0, 1] });
    const view = new WorldView();
    view.update(core, 0);
    const slot = view.slotOfGroup(9);
    core.groupChanges.push({ id: 9, mesh: cube(), origin: [0, 0, 0] });
    view.update(core, 0);
    expect(view.slotOfGroup(9)).toBe(slot);
    core.removeGroup(9);
    view.update(core, 0);
    expect([view.groupCount, view.pool.pieces, view.poses.count]).toEqual([0, 0, 0]);
  });

  it('a group without a pose yet is not drawn', () => {
    const core = new CoreDouble();
    core.groupChanges.push({ id: 3, mesh: cube(), origin: [0, 0, 0] });
    const view = new WorldView();
    view.update(core, 0);
    expect(view.poses.visible(view.slotOfGroup(3)!)).toBe(false);
  });

  it('knows the bounds of what is drawn, turned pieces included', () => {
    const core = new CoreDouble();
    const view = new WorldView();
    expect(view.bounds()).toBeNull();
    core.chunkChanges.push({ id: 1, mesh: cube(), origin: [10, 0, 0] });
    core.addGroup({ id: 1, mesh: cube(), pose: () => [0, 0, 0, 0, 1, 0, 0] });  // half a turn about y: x and z negative
    view.update(core, 0);
    const { low, high } = view.bounds()!;
    [-1, 0, -1].forEach((x, i) => expect(low[i]).toBeCloseTo(x, 5));
    [11, 1, 1].forEach((x, i) => expect(high[i]).toBeCloseTo(x, 5));
  });

  it('clears everything, and takes removals of what it never had', () => {
    const core = new CoreDouble();
    core.chunkChanges.push({ id: 4, mesh: cube(), origin: [0, 0, 0] });
    core.addGroup({ id: 1, mesh: cube(), pose: () => [0, 0, 0, 0, 0, 0, 1] });
    const view = new WorldView();
    view.update(core, 0);
    view.clear();
    expect([view.chunkCount, view.groupCount, view.pool.pieces, view.poses.count]).toEqual([0, 0, 0, 0]);
    core.removeGroup(1);
    core.chunkChanges.push({ id: 4, mesh: null, origin: [0, 0, 0] });
    view.update(core, 1);
    expect(view.pool.pieces).toBe(0);
  });
});
