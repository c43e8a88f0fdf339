import { describe, expect, it } from 'vitest';
import { kSunDirection, lightView } from '../src/sun';
import type { Vec3 } from '../src/vector';

function project(matrix: Float32Array, p: Vec3): Vec3 {
  const out: number[] = [];
  for (let row = 0; row < 3; row++) {
    out.push(matrix[row]! * p[0] + matrix[4 + row]! * p[1] + matrix[8 + row]! * p[2] + matrix[12 + row]!);
  }
  return out as Vec3;
}

describe('lightView', () => {
  it('keeps a ball inside, its centre within a texel of the middle', () => {
    const { matrix, texel } = lightView([100, 20, -50], 30, 1024, 300);
    const c = project(matrix, [100, 20, -50]);
    expect(Math.abs(c[0]) * 30).toBeLessThanOrEqual(texel);
    expect(Math.abs(c[1]) * 30).toBeLessThanOrEqual(texel);
    const side = project(matrix, [100 + 29, 20, -50]);
    side.forEach((x) => expect(Math.abs(x)).toBeLessThan(1));
  });

  it('what is nearer to the sun is nearer in depth', () => {
    const { matrix } = lightView([0, 0, 0], 30, 1024, 300);
    const near = project(matrix, [kSunDirection[0] * 9, kSunDirection[1] * 9, kSunDirection[2] * 9]);
    const far = project(matrix, [0, 0, 0]);
    expect(near[2]).toBeLessThan(far[2]);
    expect(near[0]).toBeCloseTo(far[0], 5);
    expect(near[1]).toBeCloseTo(far[1], 5);
  });

  it('moves in whole texels', () => {
    const a = lightView([0, 0, 0], 30, 1024, 300);
    const b = lightView([3.217, 1.13, -7.7], 30, 1024, 300);
    for (const row of [0, 1]) {
      const texels = ((b.matrix[12 + row]! - a.matrix[12 + row]!) * 30) / a.texel;
      expect(texels).toBeCloseTo(Math.round(texels), 3);
    }
  });
});
