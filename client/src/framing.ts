// framing.ts - where a camera has to stand to see some boxes whole, and as large as can be.
//
// Tests: tests/framing.test.ts
import { cross, dot, normalize, type Vec3 } from './vector';
import type { Bounds } from './world_view';

/**
 * @param out  unit vector from what is seen towards the eye
 * @param fieldOfView  vertical, radians
 * @param shareX, shareY  of the picture's width and height that the boxes may take
 */
export function frameBoxes(boxes: Bounds[], out: Vec3, fieldOfView: number, aspect: number, shareX: number, shareY: number): { eye: Vec3; target: Vec3 } {
  const right = normalize(cross([0, 1, 0], out));
  const up = cross(out, right);
  const points: Vec3[] = [];  // along right, up, out
  for (const { low, high } of boxes) {
    for (let i = 0; i < 8; i++) {
      const corner: Vec3 = [(i & 1 ? high : low)[0], (i & 2 ? high : low)[1], (i & 4 ? high : low)[2]];
      points.push([dot(corner, right), dot(corner, up), dot(corner, out)]);
    }
  }
  const tanY = Math.tan(fieldOfView / 2) * shareY;
  const tanX = Math.tan(fieldOfView / 2) * aspect * shareX;
  // On each axis every point is a wedge the eye must stay behind; where the left and right wedges meet is the nearest place.
  const fit = (axis: 0 | 1, tan: number): { middle: number; depth: number } => {
    let left = -Infinity;
    let far = -Infinity;
    for (const p of points) {
      left = Math.max(left, p[2] - p[axis] / tan);
      far = Math.max(far, p[2] + p[axis] / tan);
    }
    return { middle: ((far - left) / 2) * tan, depth: (far + left) / 2 };
  };
  const x = fit(0, tanX);
  const y = fit(1, tanY);
  const nearest = Math.max(...points.map((p) => p[2])) + 3;
  const depth = Math.max(x.depth, y.depth, nearest);
  const at = (a: number, b: number, c: number): Vec3 =>
    [0, 1, 2].map((i) => right[i]! * a + up[i]! * b + out[i]! * c) as Vec3;
  return { eye: at(x.middle, y.middle, depth), target: at(x.middle, y.middle, depth - 10) };
}
