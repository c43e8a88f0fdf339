import { describe, expect, it } from 'vitest';
import { FrameWatch, firstQuality, kQualities, lower } from '../src/quality';

describe('quality', () => {
  it('does what the address asks and then leaves it', () => {
    expect(firstQuality('?quality=low', 'Big GPU')).toEqual({ quality: kQualities.low, fixed: true });
    expect(firstQuality('?quality=nonsense', 'Big GPU')).toEqual({ quality: kQualities.high, fixed: false });
  });

  it('starts low where a processor draws', () => {
    expect(firstQuality('', 'ANGLE (Google, Vulkan (SwiftShader))').quality.name).toBe('low');
  });

  it('goes down step by step', () => {
    expect(lower(kQualities.high)).toBe(kQualities.medium);
    expect(lower(kQualities.medium)).toBe(kQualities.low);
    expect(lower(kQualities.low)).toBeNull();
  });

  it('is asked to go down by a whole window of slow frames only', () => {
    const watch = new FrameWatch(10);
    let down = 0;
    for (let i = 0; i < 30 + 100; i++) if (watch.frame(0.016)) down++;
    expect(down).toBe(0);
    for (let i = 0; i < 10; i++) if (watch.frame(i === 3 ? 2 : 0.05)) down++;
    expect(down).toBe(0);  // one frame of a hidden tab does not count: nine so far
    if (watch.frame(0.05)) down++;
    expect(down).toBe(1);
  });
});
