// app.ts - joins core, connection, view and panels, frame by frame. The rules of the world are all in the core.
import type { Core, Effect, Pick, Player } from './core_api';
import { Connection, type Socket } from './connection';
import {
  PointerGesture, clampPower, commandOf, fileProblem, heldKey, mebibytes, turn, wheelPower, wishVelocity,
  type Command, type HeldKey,
} from './input';
import { particlesOf } from './particles';
import { FrameWatch, firstQuality, lower, type Quality } from './quality';
import { frameBoxes } from './framing';
import { Renderer } from './renderer';
import { Sound } from './sound';
import { Ui } from './ui';
import { anglesOf, distance, lookDirection, normalize, type Quat, type Vec3 } from './vector';
import { WorldView, type Bounds } from './world_view';

const kEyeHeight = 1.6;
const kReach = 400;
const kWalkSpeed = 5;
/** The server's own limit: bigger files are not even sent. */
const kUploadLimit = 16 << 20;

const kNothing: Pick = { kind: 'none', group: 0, cell: [0, 0, 0], point: [0, 0, 0], normal: [0, 0, 0], distance: 0 };

export class App {
  readonly world = new WorldView();
  readonly renderer: Renderer;
  readonly connection: Connection;
  private ui: Ui;
  private sound = new Sound();
  private held = new Set<HeldKey>();
  private gesture = new PointerGesture();
  private player: Player = { position: [0, 12, 40], velocity: [0, 0, 0], flying: true, onGround: false };
  private yaw = 0;
  private pitch = -0.2;
  private power = 4;
  private pointer: { x: number; y: number } | null = null;
  private aim: Pick = kNothing;
  private quality: Quality;
  private watch: FrameWatch | null;
  private framed = false;
  private welcomes = 0;
  private scene = 0;
  private shake = 0;
  private last = 0;
  private fps = 0;
  private nextReadout = 0;
  private nextBounds = 0;
  private bounds: Bounds = { low: [-20, 0, -20], high: [20, 20, 20] };
  /** Effects met since the start, by kind: read by tests. */
  readonly effectCounts: Record<Effect['kind'], number> = { blast: 0, dust: 0, impact: 0, broken: 0 };

  constructor(readonly core: Core, openSocket: () => Socket) {
    this.ui = new Ui({
      power: (power) => this.setPower(power),
      toggleFly: () => this.toggleFly(),
      toggleCapture: () => this.toggleCapture(),
      toggleSound: () => this.toggleSound(),
      reset: () => this.reset(),
      scene: (number) => this.send(this.core.encodeScene(number)),
      act: () => this.send(this.core.encodeAct()),
      file: (file) => void this.upload(file),
    });
    const asked = firstQuality(location.search, '');
    this.renderer = new Renderer(this.ui.canvas, asked.quality.antialias);
    const first = firstQuality(location.search, this.renderer.gpuName);
    this.quality = first.quality;
    this.watch = first.fixed ? null : new FrameWatch();
    this.renderer.setQuality(this.quality);
    this.connection = new Connection({
      open: openSocket,
      onOpen: () => this.startAnew(),
      onMessage: (message) => this.core.receive(message, seconds()),
      onState: (state, retry) => this.ui.showState(state, retry),
      onFault: (reason) => this.ui.toast(`The server was not understood: ${reason}`, 'error'),
    });
    this.listen();
    this.setPower(this.power);
  }

  start(): void {
    this.connection.start();
    this.last = seconds();
    this.renderer.engine.runRenderLoop(() => this.frame());
  }

  private startAnew(): void {
    this.core.reset();
    this.world.clear();
    this.welcomes = 0;
  }

  private frame(): void {
    const now = seconds();
    const dt = Math.min(0.1, Math.max(0, now - this.last));
    if (now > this.last) this.fps += (1 / (now - this.last) - this.fps) * 0.08;
    if (this.watch?.frame(now - this.last)) this.lowerQuality();
    this.last = now;

    this.world.update(this.core, now);
    for (const effect of this.core.takeEffects()) this.show(effect, now);
    for (const notice of this.core.takeNotices()) this.ui.toast(notice.text, notice.error ? 'error' : 'note', notice.error ? 8 : 4);
    const stats = this.core.stats();
    if (stats.connected && stats.welcomes !== this.welcomes) {
      this.welcomes = stats.welcomes;
      const menu = this.core.scenes();
      this.ui.showScenes(menu);
      if (this.framed && menu.current !== this.scene) this.frameAll();
      this.scene = menu.current;
    }
    if (stats.connected && !this.framed) {
      this.framed = true;
      this.frameAll();
      this.ui.toast('Click blasts · drag looks · W A S D flies · H helps', 'note', 7);
    }
    if (now >= this.nextBounds) {
      this.nextBounds = now + 0.5;
      this.bounds = this.world.bounds() ?? this.bounds;
    }
    this.renderer.setBounds(this.bounds, stats.ground);
    this.move(dt, now, stats.connected);
    this.updateAim();
    this.shake *= Math.exp(-dt * 4);
    const eye = this.eye();
    const wobble = (seed: number): number => Math.sin(now * 41 + seed) * Math.sin(now * 27.3 + 2 * seed) * this.shake;
    const view = { eye: [eye[0] + wobble(1), eye[1] + wobble(2), eye[2] + wobble(3)] as Vec3, yaw: this.yaw, pitch: this.pitch + wobble(4) * 0.05 };
    this.renderer.render(view, this.world.pool, this.world.poses, now);

    if (now >= this.nextReadout) {
      this.nextReadout = now + 0.25;
      this.ui.showReadout({ ...stats, fps: this.fps });
    }
  }

  private show(effect: Effect, now: number): void {
    this.effectCounts[effect.kind]++;
    const eye = this.eye();
    this.renderer.addParticles(particlesOf(effect, this.renderer.particleShare), now);
    if (effect.kind === 'blast') {
      const near = effect.value / (6 + distance(effect.point, eye));
      this.shake = Math.min(0.25, this.shake + 0.22 * near);
      this.sound.blast(effect.point, eye, effect.value);
    } else if (effect.kind === 'impact') {
      this.sound.landed(effect.point, eye, effect.value);
    } else {
      this.sound.broken(effect.point, eye);
    }
  }

  private eye(): Vec3 {
    const p = this.player.position;
    return [p[0], p[1] + kEyeHeight, p[2]];
  }

  private move(dt: number, now: number, connected: boolean): void {
    const size = distance(this.bounds.low, this.bounds.high);
    const speed = this.player.flying ? Math.min(40, Math.max(9, size * 0.25)) : kWalkSpeed;
    const wish = wishVelocity(this.held, this.yaw, this.pitch, this.player.flying, speed);
    if (connected && dt > 0) this.player = this.core.movePlayer(this.player, wish, this.held.has('up'), dt, now);
  }

  private aimRay(): { origin: Vec3; direction: Vec3 } {
    const origin = this.eye();
    if (this.captured || !this.pointer) return { origin, direction: lookDirection(this.yaw, this.pitch) };
    return { origin, direction: this.renderer.rayThrough(this.pointer.x, this.pointer.y) };
  }

  private updateAim(): void {
    const wanted = (this.captured || this.pointer !== null) && !this.gesture.turning;
    const { origin, direction } = this.aimRay();
    this.aim = wanted ? this.core.pick(origin, direction, kReach) : kNothing;
    if (this.aim.kind !== 'group' && this.aim.kind !== 'terrain') {
      this.renderer.setOutline(null);
      return;
    }
    let place: Vec3 = [0, 0, 0];
    let spin: Quat = [0, 0, 0, 1];
    if (this.aim.kind === 'group') {
      const slot = this.world.slotOfGroup(this.aim.group);
      if (slot === undefined) return;
      const p = this.world.poses.pose(slot);
      place = [p[0], p[1], p[2]];
      spin = [p[3], p[4], p[5], p[6]];
    }
    this.renderer.setOutline({ cell: this.aim.cell, place, spin, color: [1, 0.93, 0.8, 0.9] });
  }

  private pickNow(x?: number, y?: number): Pick {
    const origin = this.eye();
    const direction = x === undefined || y === undefined ? this.aimRay().direction : this.renderer.rayThrough(x, y);
    return this.core.pick(origin, direction, kReach);
  }

  private blastAt(pick: Pick): void {
    if (pick.kind === 'none') return;
    this.send(this.core.encodeBlast(pick.point, this.power));
  }

  private digAt(pick: Pick): void {
    if (pick.kind === 'group' || pick.kind === 'terrain') this.send(this.core.encodeDig(pick));
  }

  private send(message: Uint8Array): void {
    if (!this.connection.send(message)) this.ui.toast('Not connected', 'error', 2);
  }

  private setPower(power: number): void {
    this.power = clampPower(power);
    this.ui.showPower(this.power);
  }

  private toggleFly(): void {
    this.player = { ...this.player, flying: !this.player.flying, velocity: [0, 0, 0] };
    this.ui.showFlying(this.player.flying);
  }

  private toggleSound(): void {
    this.sound.enabled = !this.sound.enabled;
    this.sound.wake();
    this.ui.showSound(this.sound.enabled);
  }

  private get captured(): boolean {
    return document.pointerLockElement === this.ui.canvas;
  }

  private toggleCapture(): void {
    if (this.captured) document.exitPointerLock();
    else void Promise.resolve(this.ui.canvas.requestPointerLock()).catch(() => this.ui.toast('The mouse could not be taken', 'error', 2));
  }

  private reset(): void {
    this.send(this.core.encodeReset());
  }

  async upload(file: File): Promise<void> {
    const problem = fileProblem(file.name, file.size, kUploadLimit);
    if (problem) {
      this.ui.toast(problem, 'error', 6);
      return;
    }
    const toast = this.ui.toast(`Sending ${file.name} (${mebibytes(file.size)})`, 'note', 0);
    let bytes: Uint8Array;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch {
      toast.close();
      this.ui.toast(`${file.name} could not be read`, 'error', 6);
      return;
    }
    const message = this.core.encodeUpload(file.name, bytes);
    if (!this.connection.send(message)) {
      toast.close();
      this.ui.toast('Not connected: the file was not sent', 'error');
      return;
    }
    const total = Math.max(1, message.length);
    const follow = (): void => {
      if (this.connection.state !== 'open') {
        toast.close();
        this.ui.toast(`${file.name}: the connection was lost on the way`, 'error', 6);
        return;
      }
      const left = this.connection.unsent;
      toast.progress(1 - Math.min(1, left / total));
      if (left > 0) setTimeout(follow, 100);
      else toast.close(1);
    };
    follow();
  }

  private lowerQuality(): void {
    const next = lower(this.quality);
    if (!next) {
      this.watch = null;
      return;
    }
    this.quality = next;
    this.renderer.setQuality(next);
  }

  /** Looks at everything from outside, the sun to the right. */
  private frameAll(): void {
    const b = this.core.stats().bounds;
    const pieces = this.world.pieceBounds();
    if (pieces.length === 0) pieces.push({ low: [b[0], b[1], b[2]], high: [b[3], b[4], b[5]] });
    const { clientWidth, clientHeight } = this.ui.canvas;
    const aspect = Math.max(0.5, clientWidth / Math.max(1, clientHeight));
    const free = Math.max(0.5, (clientHeight - 160) / Math.max(1, clientHeight));  // between the panels above and below
    const view = frameBoxes(pieces, normalize([-0.42, 0.27, 0.87]), this.renderer.camera.fov, aspect, 0.92, free);
    this.setCamera(view.eye, view.target);
  }

  setCamera(eye: Vec3, target: Vec3): void {
    this.player = { ...this.player, position: [eye[0], eye[1] - kEyeHeight, eye[2]], velocity: [0, 0, 0], flying: true };
    this.ui.showFlying(true);
    const angles = anglesOf([target[0] - eye[0], target[1] - eye[1], target[2] - eye[2]]);
    this.yaw = angles.yaw;
    this.pitch = angles.pitch;
  }

  private run(command: Command): void {
    switch (command.kind) {
      case 'toggleFly': return this.toggleFly();
      case 'toggleCapture': return this.toggleCapture();
      case 'dig': return this.digAt(this.pickNow());
      case 'blast': return this.blastAt(this.pickNow());
      case 'reset': return this.reset();
      case 'open': return this.ui.chooseFile();
      case 'help': return this.ui.toggleHelp();
      case 'sound': return this.toggleSound();
      case 'frame': return this.frameAll();
      case 'power': return this.setPower(command.power);
    }
  }

  private listen(): void {
    const { canvas } = this.ui;
    window.addEventListener('resize', () => this.renderer.engine.resize());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.connection.retryNow();
    });
    window.addEventListener('online', () => this.connection.retryNow());
    window.addEventListener('keydown', (event) => {
      this.sound.wake();
      const target = event.target as HTMLElement | null;
      if (event.ctrlKey || event.altKey || event.metaKey || ['INPUT', 'BUTTON', 'SELECT'].includes(target?.tagName ?? '')) return;
      const held = heldKey(event.code);
      const command = event.repeat ? undefined : commandOf(event.code);
      if (held) this.held.add(held);
      if (command) this.run(command);
      if (held || command) event.preventDefault();
    });
    window.addEventListener('keyup', (event) => {
      const held = heldKey(event.code);
      if (held) this.held.delete(held);
    });
    window.addEventListener('blur', () => {
      this.held.clear();
      this.gesture.cancel();
    });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.setPower(wheelPower(this.power, event.deltaY));
    }, { passive: false });
    document.addEventListener('pointerlockchange', () => this.ui.showCaptured(this.captured));
    canvas.addEventListener('pointerdown', (event) => {
      this.sound.wake();
      canvas.focus();
      if (this.captured) {
        this.click(event.button, this.pickNow());
        return;
      }
      canvas.setPointerCapture(event.pointerId);
      this.gesture.down(event.offsetX, event.offsetY, event.button);
    });
    canvas.addEventListener('pointermove', (event) => {
      this.pointer = { x: event.offsetX, y: event.offsetY };
      const delta = this.captured ? { dx: event.movementX, dy: event.movementY } : this.gesture.move(event.offsetX, event.offsetY);
      if (delta.dx === 0 && delta.dy === 0) return;
      ({ yaw: this.yaw, pitch: this.pitch } = turn(this.yaw, this.pitch, delta.dx, delta.dy));
      this.ui.showTurning(this.gesture.turning);
    });
    canvas.addEventListener('pointerup', (event) => {
      const button = this.gesture.up(event.button);
      this.ui.showTurning(false);
      if (button !== null) this.click(button, this.pickNow(event.offsetX, event.offsetY));
    });
    canvas.addEventListener('pointercancel', () => this.gesture.cancel());
    canvas.addEventListener('pointerleave', () => (this.pointer = null));
  }

  private click(button: number, pick: Pick): void {
    if (button === 0) this.blastAt(pick);
    else if (button === 2) this.digAt(pick);
  }

  /** What tests may read and do. */
  hooks() {
    return {
      counts: () => ({
        ...this.renderer.counts,
        groupsDrawn: this.world.groupCount,
        chunksDrawn: this.world.chunkCount,
        vertices: this.world.pool.vertexCount,
        triangles: this.world.pool.triangleCount,
        effects: { ...this.effectCounts },
        ...this.core.stats(),
      }),
      state: () => this.connection.state,
      groupIds: () => this.world.groupIds(),
      pose: (group: number) => {
        const slot = this.world.slotOfGroup(group);
        return slot === undefined ? null : this.world.poses.pose(slot);
      },
      bounds: () => this.world.bounds(),
      camera: () => ({ eye: this.eye(), yaw: this.yaw, pitch: this.pitch, flying: this.player.flying, power: this.power }),
      setCamera: (eye: Vec3, target: Vec3) => this.setCamera(eye, target),
      project: (point: Vec3) => this.renderer.project(point),
      pickAt: (x: number, y: number) => this.pickNow(x, y),
      setPower: (power: number) => this.setPower(power),
      quality: () => this.quality.name,
      gpu: () => this.renderer.gpuName,
      scenes: () => this.core.scenes(),
    };
  }
}

export type TestHooks = ReturnType<App['hooks']>;

declare global {
  interface Window {
    __talus?: TestHooks;
  }
}

function seconds(): number {
  return performance.now() / 1000;
}
