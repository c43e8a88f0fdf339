// sound.ts - gentle rumbles made from noise. Silent until the page has been touched (browsers insist) and switched on.
import { distance, type Vec3 } from './vector';

export class Sound {
  enabled = true;
  private context: AudioContext | null = null;
  private noise: AudioBuffer | null = null;
  private lastImpact = 0;

  /** Call from a click or key press. */
  wake(): void {
    if (this.context || !this.enabled || typeof AudioContext === 'undefined') return;
    this.context = new AudioContext();
    const { sampleRate } = this.context;
    this.noise = this.context.createBuffer(1, sampleRate * 2, sampleRate);
    const samples = this.noise.getChannelData(0);
    let low = 0;
    for (let i = 0; i < samples.length; i++) {
      low = 0.97 * low + 0.03 * (Math.random() * 2 - 1);
      samples[i] = low * 6;
    }
  }

  blast(point: Vec3, eye: Vec3, power: number): void {
    this.rumble(distance(point, eye), 0.5 * Math.min(1.6, Math.sqrt(power) / 2), 260, 1.1);
  }

  broken(point: Vec3, eye: Vec3): void {
    this.impact(point, eye, 0.16, 900, 0.25);
  }

  landed(point: Vec3, eye: Vec3, impulse: number): void {
    this.impact(point, eye, Math.min(0.3, impulse / 60000), 340, 0.4);
  }

  private impact(point: Vec3, eye: Vec3, volume: number, cutoff: number, seconds: number): void {
    const now = this.context?.currentTime ?? 0;
    if (now - this.lastImpact < 0.05) return;  // a collapse is many impacts: let a few be heard
    this.lastImpact = now;
    this.rumble(distance(point, eye), volume, cutoff, seconds);
  }

  private rumble(metres: number, volume: number, cutoff: number, seconds: number): void {
    const { context, noise } = this;
    const heard = volume / (1 + metres / 25);
    if (!context || !noise || !this.enabled || heard < 0.004) return;
    const source = context.createBufferSource();
    source.buffer = noise;
    source.playbackRate.value = 0.7 + Math.random() * 0.5;
    const filter = context.createBiquadFilter();
    filter.type = 'lowpass';
    filter.frequency.setValueAtTime(cutoff, context.currentTime);
    filter.frequency.exponentialRampToValueAtTime(60, context.currentTime + seconds);
    const gain = context.createGain();
    gain.gain.setValueAtTime(heard, context.currentTime);
    gain.gain.exponentialRampToValueAtTime(0.001, context.currentTime + seconds);
    source.connect(filter).connect(gain).connect(context.destination);
    source.start(context.currentTime, Math.random(), seconds);
  }
}
