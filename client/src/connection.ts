// connection.ts - the WebSocket to the server: opens it, and opens it anew with growing pauses whenever it is lost.
//
// Tests: tests/connection.test.ts

export type ConnectionState = 'connecting' | 'open' | 'waiting';

/** What is used of a WebSocket: a test can stand in for it. */
export interface Socket {
  binaryType: string;
  readonly bufferedAmount: number;
  // Handlers of a browser's WebSocket take their own kinds of events.
  onopen: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export interface ConnectionOptions {
  open: () => Socket;
  onOpen: () => void;
  /** May throw: the message was malformed, and the connection starts anew. */
  onMessage: (message: Uint8Array) => void;
  onState: (state: ConnectionState, retryInSeconds: number) => void;
  onFault: (reason: string) => void;
  setTimer?: (callback: () => void, seconds: number) => unknown;
  clearTimer?: (timer: unknown) => void;
  random?: () => number;
}

const kFirstPause = 0.25;
const kLongestPause = 5;

/** Seconds to wait before try `attempt` (0, 1, ...): doubled each time, with a quarter of chance so that many pages do not knock at once. */
export function backoff(attempt: number, random: number): number {
  const pause = Math.min(kLongestPause, kFirstPause * 2 ** Math.min(attempt, 16));
  return pause * (0.75 + 0.5 * random);
}

export class Connection {
  state: ConnectionState = 'waiting';
  private socket: Socket | null = null;
  private attempt = 0;
  private timer: unknown = null;
  private stopped = false;

  constructor(private options: ConnectionOptions) {}

  start(): void {
    this.stopped = false;
    this.connect();
  }

  stop(): void {
    this.stopped = true;
    this.clear();
    this.drop();
  }

  /** Tries at once, e.g. when the tab comes back into view. */
  retryNow(): void {
    if (this.state === 'waiting' && !this.stopped) {
      this.clear();
      this.connect();
    }
  }

  /** @returns false when there is no connection: nothing was sent */
  send(message: Uint8Array): boolean {
    if (this.state !== 'open' || !this.socket) return false;
    // A view into the core's memory would be sent whole by some engines and may move: send a copy.
    this.socket.send(message.slice());
    return true;
  }

  /** Bytes handed to send that have not left yet. */
  get unsent(): number {
    return this.socket?.bufferedAmount ?? 0;
  }

  private connect(): void {
    let socket: Socket;
    this.setState('connecting', 0);
    try {
      socket = this.options.open();
    } catch (error) {
      this.options.onFault(String(error));
      this.retryLater();
      return;
    }
    this.socket = socket;
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.setState('open', 0);
      this.options.onOpen();
    };
    socket.onmessage = (event: { data: unknown }) => {
      if (this.socket !== socket || !(event.data instanceof ArrayBuffer)) return;
      try {
        this.options.onMessage(new Uint8Array(event.data));
        this.attempt = 0;  // a server that accepts and says nothing sensible still earns longer pauses
      } catch (error) {
        this.options.onFault(error instanceof Error ? error.message : String(error));
        this.drop();
        this.retryLater();
      }
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.retryLater();
    };
    socket.onerror = () => {};  // close follows
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private retryLater(): void {
    if (this.stopped) return;
    const pause = backoff(this.attempt++, (this.options.random ?? Math.random)());
    this.setState('waiting', pause);
    const set = this.options.setTimer ?? ((callback, seconds) => setTimeout(callback, seconds * 1000));
    this.timer = set(() => {
      this.timer = null;
      this.connect();
    }, pause);
  }

  private clear(): void {
    if (this.timer === null) return;
    (this.options.clearTimer ?? ((timer) => clearTimeout(timer as number)))(this.timer);
    this.timer = null;
  }

  private setState(state: ConnectionState, retryInSeconds: number): void {
    this.state = state;
    this.options.onState(state, retryInSeconds);
  }
}
