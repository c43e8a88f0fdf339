// sun.ts - the light's view of the scene: an orthographic projection that follows the camera without shimmering.
//
// Matrices are 16 numbers, column after column, as GLSL reads them.
// Tests: tests/sun.test.ts
import { cross, dot, normalize, type Vec3 } from './vector';

/** Towards the sun, unit length. */
export const kSunDirection: Vec3 = normalize([0.56, 0.66, 0.50]);

export interface LightView {
  matrix: Float32Array;
  texel: number; // metres a texel covers
}

const kRight = normalize(cross([0, 1, 0], kSunDirection));
const kUp = cross(kSunDirection, kRight);

/** The light's view of a ball: its centre moves in whole texels, so that still shadows stay still. */
export function lightView(center: Vec3, radius: number, size: number, depth: number): LightView {
  const texel = (2 * radius) / size;
  const x = Math.round(dot(center, kRight) / texel) * texel;
  const y = Math.round(dot(center, kUp) / texel) * texel;
  const z = Math.round(dot(center, kSunDirection));
  const matrix = new Float32Array(16);
  const rows: [Vec3, number, number][] = [
    [kRight, 1 / radius, -x / radius],
    [kUp, 1 / radius, -y / radius],
    [[-kSunDirection[0], -kSunDirection[1], -kSunDirection[2]], 1 / depth, z / depth],
  ];
  rows.forEach(([axis, scale, shift], row) => {
    for (let column = 0; column < 3; column++) matrix[column * 4 + row] = axis[column]! * scale;
    matrix[12 + row] = shift;
  });
  matrix[15] = 1;
  return { matrix, texel };
}
