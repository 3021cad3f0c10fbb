import { Duplex } from 'node:stream';
import type { Random } from './random.js';
import type { VirtualTime } from './virtual-time.js';

/** Runs a call on the side of the connection that an end belongs to. */
export type Enter = (call: () => void) => void;

export interface ConnectionParts {
  time: VirtualTime;
  random: Random;
}

type Sent = (error?: Error | null) => void;

/** Creates a connection in memory, on which Node's HTTP runs, and returns its two ends. */
export function createConnection(enterNear: Enter, enterFar: Enter, parts: ConnectionParts) {
  const near: Duplex = createEnd(enterNear, () => ({ other: far, enterOther: enterFar }), parts);
  const far: Duplex = createEnd(enterFar, () => ({ other: near, enterOther: enterNear }), parts);
  return { near, far };
}

function createEnd(
  enter: Enter,
  others: () => { other: Duplex; enterOther: Enter },
  { time, random }: ConnectionParts,
): Duplex {
  let lastArrivesAt = 0;
  /** Calls a function once what this end sends has crossed the network. Nothing arrives before what was sent earlier. */
  function travel(arrive: () => void): void {
    lastArrivesAt = Math.max(lastArrivesAt, time.elapsed() + random.between(1, 20));
    time.after(lastArrivesAt - time.elapsed(), arrive);
  }

  function send(bytes: Buffer, sent: Sent): void {
    const { other, enterOther } = others();
    travel(() => {
      const isBroken = other.destroyed;
      if (!isBroken) enterOther(() => other.push(bytes));
      enter(() => sent(isBroken ? connectionReset() : null));
    });
  }

  const end = new Duplex({
    read() {},
    write: (bytes: Buffer, _encoding, sent) => send(bytes, sent),
    writev: (chunks, sent) => send(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), sent),
    final(sent) {
      const { other, enterOther } = others();
      travel(() => {
        enterOther(() => other.push(null));
        enter(sent);
      });
    },
    destroy(error, destroyed) {
      const { other, enterOther } = others();
      if (!end.writableFinished) {
        const isReset = random.chance(0.5);
        travel(() => enterOther(() => (isReset ? other.destroy(connectionReset()) : other.push(null))));
      }
      destroyed(error);
    },
  });
  return Object.assign(end, SOCKET_METHODS);
}

/** What apps and Node's HTTP call. A timeout has no effect, because the timeouts of Node's sockets run in real time. */
const SOCKET_METHODS = {
  destroySoon(this: Duplex) {
    this.end(() => this.destroy());
  },
  setTimeout() {
    return this;
  },
  setNoDelay() {
    return this;
  },
  setKeepAlive() {
    return this;
  },
};

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}
