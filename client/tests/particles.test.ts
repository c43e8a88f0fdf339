import { describe, expect, it } from 'vitest';
import { ParticleRing, kParticleBytes, kParticleFloats, mixColor, particlesOf, type Particle } from '../src/particles';

const chip: Particle = { kind: 'chip', place: [1, 2, 3], velocity: [4, 5, 6], gravity: 9.81, life: 2, size: 0.5, growth: 0, color: 0x102030 };

describe('ParticleRing', () => {
  it('writes four corners that differ only in the corner', () => {
    const ring = new ParticleRing(8);
    ring.add(chip, 10);
    const floats = new Float32Array(ring.vertices);
    for (let corner = 0; corner < 4; corner++) {
      const f = corner * kParticleFloats;
      expect([...floats.subarray(f, f + 4)]).toEqual([1, 2, 3, 10]);
      expect(floats[f + 8]).toBe(corner);
    }
    expect([...new Uint8Array(ring.vertices, 48, 4)]).toEqual([0x10, 0x20, 0x30, 85]);
    expect(ring.vertices.byteLength).toBe(8 * 4 * kParticleBytes);
    expect(ring.until).toBe(12);
  });

  it('uploads only new ones, and wraps around', () => {
    const ring = new ParticleRing(4);
    ring.add(chip, 0);
    ring.add(chip, 0);
    ring.add(chip, 0);
    expect(ring.takePending()).toEqual([{ start: 0, end: 3 }]);
    expect(ring.takePending()).toEqual([]);
    ring.add(chip, 0);
    ring.add(chip, 0);
    expect(ring.takePending()).toEqual([{ start: 3, end: 4 }, { start: 0, end: 1 }]);
    for (let i = 0; i < 9; i++) ring.add(chip, 0);
    expect(ring.takePending()).toEqual([{ start: 0, end: 4 }]);
  });
});

describe('particlesOf', () => {
  it('every effect shows something, less of it on slow machines', () => {
    for (const kind of ['blast', 'dust', 'impact', 'broken'] as const) {
      const effect = { kind, point: [0, 0, 0] as [number, number, number], value: 4, color: 0xff0000 };
      const all = particlesOf(effect, 1);
      const few = particlesOf(effect, 0.2);
      expect(few.length).toBeGreaterThan(0);
      expect(few.length).toBeLessThanOrEqual(all.length);
      for (const particle of all) expect(particle.life).toBeGreaterThan(0);
    }
  });

  it('mixes colours channel by channel', () => {
    expect(mixColor(0x000000, 0xffffff, 0.5)).toBe(0x808080);
    expect(mixColor(0x123456, 0xffffff, 0)).toBe(0x123456);
  });
});
