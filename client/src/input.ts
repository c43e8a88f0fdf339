// input.ts - what keys and pointers mean. Pure functions and small state: no page, no core.
//
// Tests: tests/input.test.ts
import type { Vec3 } from './vector';

export type HeldKey = 'forward' | 'back' | 'left' | 'right' | 'up' | 'down';
export type Command =
  | { kind: 'toggleFly' }
  | { kind: 'toggleCapture' }
  | { kind: 'dig' }
  | { kind: 'blast' }
  | { kind: 'reset' }
  | { kind: 'open' }
  | { kind: 'help' }
  | { kind: 'sound' }
  | { kind: 'frame' }
  | { kind: 'power'; power: number };

const kHeld: Record<string, HeldKey> = {
  KeyW: 'forward', ArrowUp: 'forward',
  KeyS: 'back', ArrowDown: 'back',
  KeyA: 'left', ArrowLeft: 'left',
  KeyD: 'right', ArrowRight: 'right',
  Space: 'up',
  ShiftLeft: 'down', ShiftRight: 'down',
};

export const kMinPower = 1;
export const kMaxPower = 32;
/** Number keys 1 to 9; 4 is the block games' TNT. */
const kPowers = [1, 2, 3, 4, 6, 9, 14, 20, 32];

export function heldKey(code: string): HeldKey | undefined {
  return kHeld[code];
}

export function commandOf(code: string): Command | undefined {
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code);
  if (digit) return { kind: 'power', power: kPowers[Number(digit[1]) - 1]! };
  switch (code) {
    case 'KeyF': return { kind: 'toggleFly' };
    case 'KeyM': return { kind: 'toggleCapture' };
    case 'KeyG': return { kind: 'dig' };
    case 'KeyB': return { kind: 'blast' };
    case 'KeyR': return { kind: 'reset' };
    case 'KeyO': return { kind: 'open' };
    case 'KeyH': return { kind: 'help' };
    case 'KeyN': return { kind: 'sound' };
    case 'KeyC': return { kind: 'frame' };
    default: return undefined;
  }
}

/** The power after the wheel turned: one notch is a fifth, rounded to halves. */
export function wheelPower(power: number, deltaY: number): number {
  if (deltaY === 0) return power;
  const wanted = deltaY < 0 ? power * 1.2 : power / 1.2;
  const rounded = Math.round(wanted * 2) / 2;
  const moved = rounded === power ? power + (deltaY < 0 ? 0.5 : -0.5) : rounded;
  return clampPower(moved);
}

export function clampPower(power: number): number {
  return Math.min(kMaxPower, Math.max(kMinPower, power));
}

/** The wanted velocity in world axes. Walking keeps to the ground's plane; flying goes where the eye looks. */
export function wishVelocity(held: ReadonlySet<HeldKey>, yaw: number, pitch: number, flying: boolean, speed: number): Vec3 {
  const ahead = (held.has('forward') ? 1 : 0) - (held.has('back') ? 1 : 0);
  const side = (held.has('right') ? 1 : 0) - (held.has('left') ? 1 : 0);
  const rise = flying ? (held.has('up') ? 1 : 0) - (held.has('down') ? 1 : 0) : 0;
  const tilt = flying ? pitch : 0;
  const x = -Math.sin(yaw) * Math.cos(tilt) * ahead + Math.cos(yaw) * side;
  const y = Math.sin(tilt) * ahead + rise;
  const z = -Math.cos(yaw) * Math.cos(tilt) * ahead - Math.sin(yaw) * side;
  const length = Math.hypot(x, y, z);
  return length > 0 ? [(x / length) * speed, (y / length) * speed, (z / length) * speed] : [0, 0, 0];
}

/** A press that stays within a few pixels is a click; one that goes further turns the view. */
export class PointerGesture {
  private start: { x: number; y: number; button: number } | null = null;
  private last = { x: 0, y: 0 };
  private turned = false;

  constructor(private slack = 4) {}

  down(x: number, y: number, button: number): void {
    if (this.start) return;
    this.start = { x, y, button };
    this.last = { x, y };
    this.turned = false;
  }

  /** @returns how far the view should turn, in pixels */
  move(x: number, y: number): { dx: number; dy: number } {
    if (!this.start) return { dx: 0, dy: 0 };
    if (!this.turned && Math.hypot(x - this.start.x, y - this.start.y) <= this.slack) return { dx: 0, dy: 0 };
    this.turned = true;
    const delta = { dx: x - this.last.x, dy: y - this.last.y };
    this.last = { x, y };
    return delta;
  }

  /** @returns the button of a click, or null when the press turned the view */
  up(button: number): number | null {
    if (!this.start || this.start.button !== button) return null;
    const clicked = !this.turned;
    this.start = null;
    return clicked ? button : null;
  }

  cancel(): void {
    this.start = null;
  }

  get turning(): boolean {
    return this.start !== null && this.turned;
  }
}

export const kTurnPerPixel = 0.0032;
const kMaxPitch = 1.55;

export function turn(yaw: number, pitch: number, dx: number, dy: number): { yaw: number; pitch: number } {
  let y = yaw - dx * kTurnPerPixel;
  if (y > Math.PI) y -= 2 * Math.PI;
  if (y < -Math.PI) y += 2 * Math.PI;
  return { yaw: y, pitch: Math.min(kMaxPitch, Math.max(-kMaxPitch, pitch - dy * kTurnPerPixel)) };
}

const kEndings = ['.vox', '.schem'];

/** @returns why this file can't be uploaded, or null */
export function fileProblem(name: string, size: number, limit: number): string | null {
  if (!kEndings.some((ending) => name.toLowerCase().endsWith(ending))) return `${name}: only .vox and .schem files can stand here`;
  if (size === 0) return `${name} is empty`;
  if (size > limit) return `${name} is too big: ${mebibytes(size)} of at most ${mebibytes(limit)}`;
  return null;
}

export function mebibytes(bytes: number): string {
  const size = bytes / (1 << 20);
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} MiB`;
}
