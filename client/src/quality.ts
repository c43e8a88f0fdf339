// quality.ts - how much the page draws, and the rule that lowers it on slow machines.
//
// Tests: tests/quality.test.ts

export interface Quality {
  name: 'high' | 'medium' | 'low';
  shadowSize: number;
  cascades: 1 | 2;
  soft: boolean;       // soft shadows, clouds
  antialias: boolean;
  particles: number;   // most at once
  particleShare: number;
  maxPixelRatio: number;
}

export const kQualities: Record<Quality['name'], Quality> = {
  high: { name: 'high', shadowSize: 2048, cascades: 2, soft: true, antialias: true, particles: 4096, particleShare: 1, maxPixelRatio: 2 },
  medium: { name: 'medium', shadowSize: 1024, cascades: 2, soft: true, antialias: true, particles: 2048, particleShare: 0.8, maxPixelRatio: 1 },
  low: { name: 'low', shadowSize: 1024, cascades: 1, soft: false, antialias: false, particles: 1024, particleShare: 0.6, maxPixelRatio: 1 },
};

/** What the address asks for (?quality=low), else what the graphics driver's name suggests. */
export function firstQuality(query: string, renderer: string): { quality: Quality; fixed: boolean } {
  const asked = new URLSearchParams(query).get('quality');
  if (asked === 'low' || asked === 'medium' || asked === 'high') return { quality: kQualities[asked], fixed: true };
  const software = /swiftshader|llvmpipe|software|basic render/i.test(renderer);
  return { quality: software ? kQualities.low : kQualities.high, fixed: false };
}

/** Watches frame times; says when a step down is due: a whole window of frames slower than 24 ms on average. */
export class FrameWatch {
  private sum = 0;
  private frames = 0;
  private skip = 30;

  constructor(private window = 120, private limit = 0.024) {}

  /** @returns true when the quality should go down a step */
  frame(seconds: number): boolean {
    if (seconds > 0.5) return false;  // a hidden tab
    if (this.skip > 0) {
      this.skip--;
      return false;
    }
    this.sum += seconds;
    if (++this.frames < this.window) return false;
    const slow = this.sum / this.frames > this.limit;
    this.sum = 0;
    this.frames = 0;
    if (slow) this.skip = 30;
    return slow;
  }
}

export function lower(quality: Quality): Quality | null {
  if (quality.name === 'high') return kQualities.medium;
  if (quality.name === 'medium') return kQualities.low;
  return null;
}
