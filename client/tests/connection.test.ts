import { describe, expect, it } from 'vitest';
import { Connection, backoff, type ConnectionState, type Socket } from '../src/connection';

class SocketDouble implements Socket {
  binaryType = '';
  bufferedAmount = 0;
  onopen: ((event: unknown) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  sent: Uint8Array[] = [];
  closed = false;
  send(data: Uint8Array): void {
    this.sent.push(data);
  }
  close(): void {
    this.closed = true;
  }
  say(...bytes: number[]): void {
    this.onmessage?.({ data: new Uint8Array(bytes).buffer });
  }
}

function setUp(onMessage: (message: Uint8Array) => void = () => {}) {
  const sockets: SocketDouble[] = [];
  const pauses: number[] = [];
  const states: ConnectionState[] = [];
  const faults: string[] = [];
  let opened = 0;
  let pending: (() => void) | null = null;
  const connection = new Connection({
    open: () => {
      sockets.push(new SocketDouble());
      return sockets[sockets.length - 1]!;
    },
    onOpen: () => opened++,
    onMessage,
    onState: (state) => states.push(state),
    onFault: (reason) => faults.push(reason),
    setTimer: (callback, seconds) => {
      pauses.push(seconds);
      pending = callback;
      return 1;
    },
    clearTimer: () => (pending = null),
    random: () => 0.5,
  });
  const fire = (): void => {
    const callback = pending;
    pending = null;
    callback?.();
  };
  return { connection, sockets, pauses, states, faults, fire, opened: () => opened, hasTimer: () => pending !== null };
}

describe('backoff', () => {
  it('doubles up to five seconds, with a quarter of chance', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((attempt) => backoff(attempt, 0.5))).toEqual([0.25, 0.5, 1, 2, 4, 5, 5]);
    expect(backoff(50, 0)).toBe(3.75);
    expect(backoff(50, 1)).toBe(6.25);
  });
});

describe('Connection', () => {
  it('opens anew after each loss, with longer pauses', () => {
    const t = setUp();
    t.connection.start();
    for (let i = 0; i < 4; i++) {
      t.sockets[i]!.onclose?.({});
      t.fire();
    }
    expect(t.sockets.length).toBe(5);
    expect(t.pauses).toEqual([0.25, 0.5, 1, 2]);
  });

  it('starts with short pauses again once a message was understood', () => {
    const t = setUp();
    t.connection.start();
    t.sockets[0]!.onclose?.({});
    t.fire();
    t.sockets[1]!.onopen?.({});
    t.sockets[1]!.onclose?.({});
    expect(t.pauses).toEqual([0.25, 0.5]);
    t.fire();
    t.sockets[2]!.onopen?.({});
    t.sockets[2]!.say(1);
    t.sockets[2]!.onclose?.({});
    expect(t.pauses).toEqual([0.25, 0.5, 0.25]);
    expect(t.opened()).toBe(2);
  });

  it('drops a server it does not understand, and says why', () => {
    const t = setUp(() => {
      throw new Error('bad length');
    });
    t.connection.start();
    t.sockets[0]!.onopen?.({});
    t.sockets[0]!.say(9);
    expect(t.sockets[0]!.closed).toBe(true);
    expect(t.faults).toEqual(['bad length']);
    expect(t.connection.state).toBe('waiting');
    t.sockets[0]!.onclose?.({});  // the browser reports the close later: not a second loss
    expect(t.pauses.length).toBe(1);
  });

  it('hears nothing from a socket it left', () => {
    const heard: number[] = [];
    const t = setUp((message) => heard.push(message[0]!));
    t.connection.start();
    t.sockets[0]!.onopen?.({});
    t.sockets[0]!.onclose?.({});
    t.fire();
    t.sockets[0]!.say(1);
    t.sockets[1]!.onopen?.({});
    t.sockets[1]!.say(2);
    expect(heard).toEqual([2]);
  });

  it('sends only while open, and a copy', () => {
    const t = setUp();
    t.connection.start();
    const bytes = new Uint8Array([1, 2, 3]);
    expect(t.connection.send(bytes)).toBe(false);
    t.sockets[0]!.onopen?.({});
    expect(t.connection.send(bytes.subarray(1))).toBe(true);
    bytes.fill(0);
    expect([...t.sockets[0]!.sent[0]!]).toEqual([2, 3]);
  });

  it('tries at once when asked while waiting, and only then', () => {
    const t = setUp();
    t.connection.start();
    t.connection.retryNow();
    expect(t.sockets.length).toBe(1);
    t.sockets[0]!.onclose?.({});
    t.connection.retryNow();
    expect(t.sockets.length).toBe(2);
    expect(t.hasTimer()).toBe(false);
  });

  it('stays away once stopped', () => {
    const t = setUp();
    t.connection.start();
    t.sockets[0]!.onopen?.({});
    t.connection.stop();
    t.sockets[0]!.onclose?.({});
    expect([t.sockets[0]!.closed, t.hasTimer()]).toEqual([true, false]);
  });
});
