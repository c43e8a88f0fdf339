// particles.ts - dust, chips and flashes: a ring of quads drawn by one call. A particle is written once, at its birth;
// the shader moves it (shaders.ts), so a frame without births uploads nothing.
//
// Tests: tests/particles.test.ts
import type { Effect } from './core_api';
import type { Vec3 } from './vector';

export const kParticleFloats = 13;  // a vertex: place 3, birth, velocity 3, gravity, corner, life, size, growth, colour+kind
export const kParticleBytes = kParticleFloats * 4;

export type ParticleKind = 'dust' | 'chip' | 'flash' | 'smoke';
const kKinds: Record<ParticleKind, number> = { dust: 0, chip: 85, flash: 170, smoke: 255 };

export interface Particle {
  kind: ParticleKind;
  place: Vec3;
  velocity: Vec3;
  gravity: number;
  life: number;
  size: number;
  growth: number;
  color: number; // 0xRRGGBB
}

export class ParticleRing {
  readonly vertices: ArrayBuffer;
  private floats: Float32Array;
  private bytes: Uint8Array;
  private next = 0;
  /** Particles written since the last upload; may wrap around. */
  pending = 0;
  /** When the last particle alive dies: nothing need be drawn after. */
  until = 0;

  constructor(readonly capacity: number) {
    this.vertices = new ArrayBuffer(capacity * 4 * kParticleBytes);
    this.floats = new Float32Array(this.vertices);
    this.bytes = new Uint8Array(this.vertices);
    for (let i = 0; i < capacity * 4; i++) this.floats[i * kParticleFloats + 9] = 1;  // life: never divide by 0
    for (let i = 0; i < capacity * 4; i++) this.floats[i * kParticleFloats + 3] = -1e6;  // born long ago
  }

  add(particle: Particle, nowSeconds: number): void {
    for (let corner = 0; corner < 4; corner++) {
      const v = this.next * 4 + corner;
      const f = v * kParticleFloats;
      this.floats.set(particle.place, f);
      this.floats[f + 3] = nowSeconds;
      this.floats.set(particle.velocity, f + 4);
      this.floats[f + 7] = particle.gravity;
      this.floats[f + 8] = corner;
      this.floats[f + 9] = particle.life;
      this.floats[f + 10] = particle.size;
      this.floats[f + 11] = particle.growth;
      const b = v * kParticleBytes + 48;
      this.bytes[b] = (particle.color >> 16) & 255;
      this.bytes[b + 1] = (particle.color >> 8) & 255;
      this.bytes[b + 2] = particle.color & 255;
      this.bytes[b + 3] = kKinds[particle.kind];
    }
    this.next = (this.next + 1) % this.capacity;
    this.pending = Math.min(this.pending + 1, this.capacity);
    this.until = Math.max(this.until, nowSeconds + particle.life);
  }

  /** Ranges of particles to upload, at most two. */
  takePending(): { start: number; end: number }[] {
    const count = this.pending;
    this.pending = 0;
    if (count === 0) return [];
    if (count === this.capacity) return [{ start: 0, end: this.capacity }];
    const start = (this.next - count + this.capacity) % this.capacity;
    if (start < this.next) return [{ start, end: this.next }];
    const ranges = [{ start, end: this.capacity }];
    if (this.next > 0) ranges.push({ start: 0, end: this.next });
    return ranges;
  }
}

/** Particles of one effect. `share` 0..1 thins them out on slow machines. */
export function particlesOf(effect: Effect, share: number, random: () => number = Math.random): Particle[] {
  const made: Particle[] = [];
  const around = (r: number): number => (random() * 2 - 1) * r;
  const near = (r: number): Vec3 => [effect.point[0] + around(r), effect.point[1] + around(r), effect.point[2] + around(r)];
  const count = (n: number): number => Math.max(1, Math.round(n * share));
  const color = effect.color || 0x9a948a;
  const pale = mixColor(color, 0xc8beb0, 0.55);
  if (effect.kind === 'blast') {
    const r = Math.sqrt(Math.max(effect.value, 0.5));
    made.push({ kind: 'flash', place: effect.point, velocity: [0, 0, 0], gravity: 0, life: 0.4, size: 2.2 * r, growth: 5 * r, color: 0xffffff });
    for (let i = 0; i < count(7); i++) {
      made.push({ kind: 'flash', place: near(0.7 * r), velocity: [around(3 * r), 1 + around(2 * r), around(3 * r)], gravity: 0, life: 0.3 + random() * 0.4, size: 0.9 * r, growth: 1.5 * r, color: 0xffffff });
    }
    for (let i = 0; i < count(34); i++) {
      made.push({ kind: 'smoke', place: near(0.9 * r), velocity: [around(4.5 * r), (0.3 + random() * 3.2) * r, around(4.5 * r)], gravity: -0.35, life: 1.8 + random() * 2.4, size: (0.5 + random() * 0.5) * r, growth: 1.7 * r, color: [0x59524a, 0x8f867b, 0xaaa195][i % 3]! });
    }
    for (let i = 0; i < count(40); i++) {
      made.push({ kind: 'chip', place: near(0.5 * r), velocity: [around(4 + 2 * r), 2 + random() * (4 + 2 * r), around(4 + 2 * r)], gravity: 9.81, life: 1.8 + random() * 1.6, size: 0.05 + random() * 0.11, growth: 0, color: 0x7a7268 });
    }
  } else if (effect.kind === 'broken') {
    for (let i = 0; i < count(5); i++) {
      made.push({ kind: 'chip', place: near(0.4), velocity: [around(3), 1 + random() * 4, around(3)], gravity: 9.81, life: 1.4 + random() * 1.4, size: 0.05 + random() * 0.1, growth: 0, color });
    }
    for (let i = 0; i < count(2); i++) {
      made.push({ kind: 'dust', place: near(0.4), velocity: [around(1.8), 0.3 + random() * 1.2, around(1.8)], gravity: -0.1, life: 1.2 + random() * 1.4, size: 0.5, growth: 1.5, color: pale });
    }
  } else if (effect.kind === 'dust') {
    for (let i = 0; i < count(Math.min(14, 5 + effect.value * 0.25)); i++) {
      made.push({ kind: 'dust', place: near(1.0), velocity: [around(3), 0.2 + random() * 1.4, around(3)], gravity: -0.08, life: 1.8 + random() * 2.2, size: 0.7, growth: 1.9, color: pale });
    }
  } else {
    const strength = Math.min(1, effect.value / 40000);
    for (let i = 0; i < count(2 + 6 * strength); i++) {
      made.push({ kind: 'dust', place: near(0.4), velocity: [around(1 + 3 * strength), 0.2 + random() * 0.9, around(1 + 3 * strength)], gravity: -0.05, life: 1 + random() * (1 + strength), size: 0.3 + 0.5 * strength, growth: 1.6, color: pale });
    }
  }
  return made;
}

export function mixColor(a: number, b: number, share: number): number {
  let mixed = 0;
  for (const shift of [16, 8, 0]) {
    const x = (a >> shift) & 255;
    const y = (b >> shift) & 255;
    mixed |= Math.round(x + (y - x) * share) << shift;
  }
  return mixed;
}
