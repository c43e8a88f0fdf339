import { describe, expect, it } from 'vitest';
import { frameBoxes } from '../src/framing';
import { cross, dot, normalize, type Vec3 } from '../src/vector';
import type { Bounds } from '../src/world_view';

const kOut = normalize([-0.42, 0.27, 0.87]);

/** Most extreme places of the corners on the picture, -1 .. 1 on both axes. */
function extent(boxes: Bounds[], eye: Vec3, fieldOfView: number, aspect: number) {
  const right = normalize(cross([0, 1, 0], kOut));
  const up = cross(kOut, right);
  const xs: number[] = [];
  const ys: number[] = [];
  for (const { low, high } of boxes) {
    for (let i = 0; i < 8; i++) {
      const d: Vec3 = [(i & 1 ? high : low)[0] - eye[0], (i & 2 ? high : low)[1] - eye[1], (i & 4 ? high : low)[2] - eye[2]];
      const depth = -dot(d, kOut);
      expect(depth).toBeGreaterThan(0);
      ys.push(dot(d, up) / depth / Math.tan(fieldOfView / 2));
      xs.push(dot(d, right) / depth / Math.tan(fieldOfView / 2) / aspect);
    }
  }
  return { x: [Math.min(...xs), Math.max(...xs)], y: [Math.min(...ys), Math.max(...ys)] };
}

describe('frameBoxes', () => {
  it('lets a wide scene touch both sides', () => {
    const boxes: Bounds[] = [{ low: [0, 0, 0], high: [120, 5, 8] }, { low: [5, 0, 2], high: [10, 12, 7] }];
    const { eye } = frameBoxes(boxes, kOut, 1.1, 16 / 9, 0.9, 0.7);
    const { x, y } = extent(boxes, eye, 1.1, 16 / 9);
    expect(x[0]).toBeCloseTo(-0.9, 5);
    expect(x[1]).toBeCloseTo(0.9, 5);
    expect(y[0]).toBeGreaterThanOrEqual(-0.7001);
    expect(y[1]).toBeLessThanOrEqual(0.7001);
  });

  it('lets a tall one touch top and bottom', () => {
    const boxes: Bounds[] = [{ low: [100, 0, -50], high: [104, 40, -46] }];
    const { eye, target } = frameBoxes(boxes, kOut, 1.1, 16 / 9, 0.9, 0.7);
    const { y } = extent(boxes, eye, 1.1, 16 / 9);
    expect(y[0]).toBeCloseTo(-0.7, 5);
    expect(y[1]).toBeCloseTo(0.7, 5);
    normalize([eye[0] - target[0], eye[1] - target[1], eye[2] - target[2]]).forEach((v, i) => expect(v).toBeCloseTo(kOut[i]!, 6));
  });

  it('stays some metres away from a single block', () => {
    const { eye } = frameBoxes([{ low: [0, 0, 0], high: [1, 1, 1] }], kOut, 1.1, 16 / 9, 0.9, 0.7);
    expect(Math.hypot(eye[0] - 0.5, eye[1] - 0.5, eye[2] - 0.5)).toBeGreaterThan(3);
  });
});
