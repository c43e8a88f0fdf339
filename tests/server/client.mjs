// client.mjs - what a page does, without a browser: the WebSocket by hand (any Origin can be forged), and talus.wasm.
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const root = new URL('../../', import.meta.url);
export const wasmFile = process.env.TALUS_WASM ?? new URL('build/wasm/bin/talus.wasm', root);

/** talus.wasm as bindings/wasm/talus_wasm.cpp exports it. */
export function loadCore() {
  const core = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmFile)), {}).exports;
  core._initialize();
  const out = (size) => Buffer.from(new Uint8Array(core.memory.buffer, core.out_bytes(), size));
  return {
    core,
    receive(message, now) {
      const at = core.buffer(message.length); // may move the memory
      new Uint8Array(core.memory.buffer, at, message.length).set(message);
      if (!core.receive(now)) throw new Error(out(core.out_size()).toString());
    },
    stats() {
      core.stats();
      const n = new Float64Array(core.memory.buffer, core.numbers(), 32);
      return { connected: n[0] !== 0, tick: n[1], groups: n[2], awake: n[3], blocks: n[4], bounds: [...n.slice(8, 14)] };
    },
    /** Every group's pose, settled: number to eight floats. */
    poses(now) {
      const count = core.poses(now);
      const ids = new Uint32Array(core.memory.buffer, core.pose_ids(), count);
      const transforms = new Float32Array(core.memory.buffer, core.pose_transforms(), count * 8);
      return new Map([...ids].map((id, i) => [id, [...transforms.slice(i * 8, i * 8 + 8)]]));
    },
    /** Vertices of the meshes that changed: number to count, 0 when gone. */
    groupChanges() {
      const count = core.take_group_changes();
      const view = new DataView(core.memory.buffer, core.records(), count * 56);
      const changes = new Map();
      for (let i = 0; i < count; i++) changes.set(view.getUint32(i * 56 + 24, true), view.getUint32(i * 56 + 48, true));
      return changes;
    },
    notices() {
      const count = core.take_notices();
      return Array.from({ length: count }, (_, i) => ({ error: core.notice(i) !== 0, text: out(core.out_size()).toString() }));
    },
    pick(origin, direction, reach) {
      new Float64Array(core.memory.buffer, core.numbers(), 32).set([...origin, ...direction, reach]);
      core.pick();
      const n = new Float64Array(core.memory.buffer, core.numbers(), 32);
      return { kind: ['none', 'ground', 'terrain', 'group'][n[0]], group: n[1], cell: [...n.slice(2, 5)], distance: n[11] };
    },
    blast: (x, y, z, power) => out(core.encode_blast(x, y, z, power)),
    dig: (group, x, y, z) => out(core.encode_dig(group, x, y, z)),
    reset: () => out(core.encode_reset()),
    scene: (number) => out(core.encode_scene(number)),
    act: () => out(core.encode_act()),
    scenes() {
      const count = core.scenes();
      const current = new Float64Array(core.memory.buffer, core.numbers(), 1)[0];
      const text = (put, i) => (put(i), out(core.out_size()).toString());
      const entries = Array.from({ length: count }, (_, i) => ({ title: text(core.scene_title, i), action: text(core.scene_action, i) }));
      return { entries, current };
    },
    upload(name, bytes) {
      const title = Buffer.from(name);
      const at = core.buffer(title.length + bytes.length);
      new Uint8Array(core.memory.buffer, at, title.length + bytes.length).set(Buffer.concat([title, bytes]));
      return out(core.encode_upload(title.length));
    },
  };
}

/** One WebSocket. `status` is that of the handshake; messages arrive at `onmessage`, the first perhaps with the handshake. */
export class Socket {
  static open(port, { origin = `http://127.0.0.1:${port}`, host = `127.0.0.1:${port}`, path = '/ws', onmessage } = {}) {
    return new Promise((resolve, reject) => {
      const socket = new Socket();
      socket.onmessage = onmessage;
      const tcp = connect(port, '127.0.0.1');
      socket.tcp = tcp;
      let data = Buffer.alloc(0);
      tcp.on('error', (error) => (socket.status ? (socket.closed = true) : reject(error)));
      tcp.on('close', () => {
        socket.closed = true;
        socket.onclose?.();
      });
      tcp.on('data', (chunk) => {
        data = Buffer.concat([data, chunk]);
        if (!socket.status) {
          const end = data.indexOf('\r\n\r\n');
          if (end < 0) return;
          socket.status = Number(data.toString('latin1', 9, 12));
          data = data.subarray(end + 4);
          resolve(socket);
          if (socket.status !== 101) return tcp.destroy();
        }
        data = socket.frames(data);
      });
      const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Upgrade: websocket', 'Connection: Upgrade',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`, 'Sec-WebSocket-Version: 13'];
      if (origin !== null) lines.push(`Origin: ${origin}`);
      tcp.write(lines.join('\r\n') + '\r\n\r\n');
    });
  }

  parts = [];

  frames(data) {
    for (;;) {
      if (data.length < 2) return data;
      let size = data[1] & 127;
      let at = 2;
      if (size === 126) {
        if (data.length < 4) return data;
        size = data.readUInt16BE(2);
        at = 4;
      } else if (size === 127) {
        if (data.length < 10) return data;
        size = Number(data.readBigUInt64BE(2));
        at = 10;
      }
      if (data.length < at + size) return data;
      const payload = data.subarray(at, at + size);
      const opcode = data[0] & 15;
      if (opcode === 8) this.closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 0;
      else if (opcode === 9) this.frame(10, payload);
      else if (opcode <= 2) {
        this.parts.push(Buffer.from(payload));
        if (data[0] & 128) {
          const message = Buffer.concat(this.parts);
          this.parts = [];
          this.onmessage?.(message);
        }
      }
      data = data.subarray(at + size);
    }
  }

  frame(opcode, payload) {
    const mask = randomBytes(4);
    const head = Buffer.alloc(14);
    head[0] = 128 | opcode;
    let at = 2;
    if (payload.length < 126) head[1] = 128 | payload.length;
    else if (payload.length < 65536) {
      head[1] = 128 | 126;
      head.writeUInt16BE(payload.length, 2);
      at = 4;
    } else {
      head[1] = 128 | 127;
      head.writeBigUInt64BE(BigInt(payload.length), 2);
      at = 10;
    }
    mask.copy(head, at);
    const masked = Buffer.from(payload);
    for (let i = 0; i < masked.length; i++) masked[i] ^= mask[i & 3];
    this.tcp.write(Buffer.concat([head.subarray(0, at + 4), masked]));
  }

  send(bytes) {
    this.frame(2, bytes);
  }

  close() {
    this.tcp.destroy();
  }
}

/** A page: a socket and a core that hears it. */
export class Page {
  static async open(port, options) {
    const page = new Page();
    page.world = loadCore();
    page.meshes = new Map();
    page.notices = [];
    page.messages = 0;
    const onmessage = (message) => {
      page.messages++;
      const now = performance.now() / 1000;
      page.world.receive(message, now);
      page.poses = page.world.poses(now);
      for (const [id, vertices] of page.world.groupChanges()) vertices ? page.meshes.set(id, vertices) : page.meshes.delete(id);
      page.notices.push(...page.world.notices());
      page.wake?.();
    };
    page.socket = await Socket.open(port, { ...options, onmessage });
    return page;
  }

  /** Until the condition holds; fails the test's own time limit otherwise. */
  async until(condition) {
    while (!condition(this)) {
      if (this.socket.closed) throw new Error('the server hung up');
      await new Promise((resolve) => (this.wake = resolve));
    }
  }

  send(bytes) {
    this.socket.send(bytes);
  }

  close() {
    this.socket.close();
  }
}
