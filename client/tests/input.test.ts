import { describe, expect, it } from 'vitest';
import {
  PointerGesture, commandOf, fileProblem, heldKey, kMaxPower, kMinPower, turn, wheelPower, wishVelocity, type HeldKey,
} from '../src/input';
import { anglesOf, lookDirection } from '../src/vector';

const held = (...keys: HeldKey[]): Set<HeldKey> => new Set(keys);
const near = (a: number[], b: number[]): void => a.forEach((x, i) => expect(x).toBeCloseTo(b[i]!, 6));

describe('keys', () => {
  it('map by place on the keyboard, not by letter', () => {
    expect([heldKey('KeyW'), heldKey('ArrowLeft'), heldKey('Space'), heldKey('ShiftRight')]).toEqual(['forward', 'left', 'up', 'down']);
    expect(heldKey('KeyF')).toBeUndefined();
    expect(commandOf('KeyF')).toEqual({ kind: 'toggleFly' });
    expect(commandOf('KeyR')).toEqual({ kind: 'reset' });
    expect(commandOf('KeyG')).toEqual({ kind: 'dig' });
    expect(commandOf('KeyW')).toBeUndefined();
  });

  it('choose powers by number: 4 is 4, 9 the most', () => {
    expect(commandOf('Digit4')).toEqual({ kind: 'power', power: 4 });
    expect(commandOf('Numpad9')).toEqual({ kind: 'power', power: kMaxPower });
    expect(commandOf('Digit0')).toBeUndefined();
  });
});

describe('power by wheel', () => {
  it('goes up and down in steps and stays within its limits', () => {
    expect(wheelPower(4, -100)).toBe(5);
    expect(wheelPower(5, 100)).toBe(4);
    expect(wheelPower(1, -1)).toBe(1.5);
    let power = 4;
    for (let i = 0; i < 50; i++) power = wheelPower(power, -1);
    expect(power).toBe(kMaxPower);
    for (let i = 0; i < 50; i++) power = wheelPower(power, 1);
    expect(power).toBe(kMinPower);
    expect(wheelPower(3, 0)).toBe(3);
  });
});

describe('wishVelocity', () => {
  it('walks in the plane however the eye is tilted', () => {
    near(wishVelocity(held('forward'), 0, -1.2, false, 5), [0, 0, -5]);
    near(wishVelocity(held('right'), 0, 0.5, false, 5), [5, 0, 0]);
    near(wishVelocity(held('up'), 0, 0, false, 5), [0, 0, 0]);
  });

  it('flies where the eye looks', () => {
    const d = lookDirection(0.7, -0.4);
    near(wishVelocity(held('forward'), 0.7, -0.4, true, 10), d.map((x) => x * 10));
    near(wishVelocity(held('down'), 0.7, -0.4, true, 10), [0, -10, 0]);
  });

  it('is no faster on a diagonal, and still when keys cancel out', () => {
    expect(Math.hypot(...wishVelocity(held('forward', 'right'), 1, 0, false, 5))).toBeCloseTo(5);
    near(wishVelocity(held('forward', 'back', 'left', 'right'), 1, 0, true, 5), [0, 0, 0]);
  });
});

describe('looking', () => {
  it('turns right when the pointer goes right, and stops short of straight up', () => {
    expect(turn(0, 0, 100, 0).yaw).toBeLessThan(0);
    expect(turn(0, 0, 0, -1e6).pitch).toBeLessThan(Math.PI / 2);
    expect(Math.abs(turn(3.1, 0, -100, 0).yaw)).toBeLessThanOrEqual(Math.PI);
  });

  it('angles and directions are inverse', () => {
    for (const [yaw, pitch] of [[0, 0], [2, 0.6], [-3, -1.4]] as const) {
      const back = anglesOf(lookDirection(yaw, pitch));
      near([back.yaw, back.pitch], [yaw, pitch]);
    }
  });
});

describe('PointerGesture', () => {
  it('a press that stays is a click', () => {
    const g = new PointerGesture();
    g.down(10, 10, 0);
    expect(g.move(12, 11)).toEqual({ dx: 0, dy: 0 });
    expect(g.up(0)).toBe(0);
  });

  it('a press that goes further turns the view and clicks nothing', () => {
    const g = new PointerGesture();
    g.down(10, 10, 0);
    expect(g.move(20, 10)).toEqual({ dx: 10, dy: 0 });
    expect(g.move(11, 12)).toEqual({ dx: -9, dy: 2 });
    expect(g.turning).toBe(true);
    expect(g.up(0)).toBeNull();
    expect(g.move(50, 50)).toEqual({ dx: 0, dy: 0 });
  });

  it('keeps to the button that began', () => {
    const g = new PointerGesture();
    g.down(0, 0, 2);
    g.down(0, 0, 0);
    expect(g.up(0)).toBeNull();
    expect(g.up(2)).toBe(2);
  });

  it('forgets a press that was cancelled', () => {
    const g = new PointerGesture();
    g.down(0, 0, 0);
    g.cancel();
    expect(g.up(0)).toBeNull();
  });
});

describe('fileProblem', () => {
  it('takes .vox and .schem of any case, and names what is wrong otherwise', () => {
    expect(fileProblem('a.vox', 10, 100)).toBeNull();
    expect(fileProblem('A.SCHEM', 100, 100)).toBeNull();
    expect(fileProblem('a.png', 10, 100)).toContain('.vox');
    expect(fileProblem('a.vox', 0, 100)).toContain('empty');
    expect(fileProblem('a.vox', 3 << 20, 2 << 20)).toBe('a.vox is too big: 3.0 MiB of at most 2.0 MiB');
  });
});
