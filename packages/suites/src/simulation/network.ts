import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import type { Disturbances } from './disturbances.js';
import type { WorldFaults } from './faults.js';
import { outsideOfProcesses, type SimulatedProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

/** A process that serves requests. */
export interface Server {
  readonly process: SimulatedProcess;
  /** `broken` is aborted in the process when the connection breaks. */
  readonly serve: (request: Request, broken: AbortSignal) => Promise<Response>;
}

export interface NetworkParts {
  time: VirtualTime;
  random: Random;
  faults: WorldFaults;
  story: Story;
  disturbances: Disturbances;
  /** The servers behind the load balancer, also those that are dead. */
  servers: readonly Server[];
}

/** Until when a connection may be reset, in milliseconds. */
const LATEST_RESET_MS = 25_000;

/**
 * Returns the network between the service and the receivers: a `fetch` that passes a request to one of the servers and
 * its whole answer back, where neither the connection nor the server breaks.
 */
export function createNetwork({ time, random, faults, story, disturbances, servers }: NetworkParts) {
  return function fetch(request: Request): Promise<Response> {
    const { process, serve } = servers[random.between(0, servers.length - 1)] as Server;
    const connection = new AbortController();
    const isReset = faults.strikes('reset');
    const resetAfterMs = isReset ? random.between(1, random.pick([50, LATEST_RESET_MS])) : ANSWER_TIMEOUT_MS;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const cut = (why: string) => {
        if (isOver) return;
        isOver = true;
        story.tell('network', `${why} ${process.name}`);
        process.resume(() => connection.abort());
        reject(new Error('connection reset'));
      };
      const pass = ({ status, headers }: Response, body: string) => {
        if (isOver) return;
        isOver = true;
        story.tell('network', `passes the answer ${status} of ${process.name}: ${body}`);
        resolve(new Response(hasNoBody(status) ? null : body, { status, headers }));
      };
      const exchange = async () => {
        const response = await serve(arriving(request, connection.signal), connection.signal);
        await sending(process); // a server sends an answer in its own time, so that the connection may break before
        const body = await readWhole(response.body, connection.signal);
        time.after(latency(), () => pass(response, body));
      };
      time.after(latency(), () => {
        if (!process.isAlive) return cut('finds no process at');
        process.onKilled(() => cut('loses the connection to'));
        disturbances.at(process, 'when a request arrives');
        process.resume(() => void exchange().catch(() => cut('gets no whole answer from')));
      });
      time.after(resetAfterMs, () => cut(isReset ? 'resets the connection to' : 'has waited for 20 s for'));
    });
  };

  function latency(): number {
    return random.between(1, 20);
  }

  /** Resolves in the process when it sends its answer, unless it is killed before. */
  function sending(process: SimulatedProcess): Promise<void> {
    return new Promise((resolve) => {
      time.after(latency(), () => {
        disturbances.at(process, 'before it sends its answer');
        process.resume(resolve);
      });
    });
  }
}

/** Returns a request as a server gets it. Its sender sends the body by itself, whichever process reads it. */
function arriving({ url, method, headers, body }: Request, signal: AbortSignal): Request {
  const reader = body?.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        outsideOfProcesses(async () => {
          const { done = true, value } = (await reader?.read()) ?? {};
          if (value !== undefined) controller.enqueue(value);
          if (done) controller.close();
        }),
      cancel: (reason) => outsideOfProcesses(async () => reader?.cancel(reason)),
    },
    { highWaterMark: 0 },
  );
  return new Request(url, { method, headers, body: stream, signal, duplex: 'half' });
}

/** Reads a body as a server sends it: to its end, unless the connection breaks before. */
async function readWhole(body: Response['body'], broken: AbortSignal): Promise<string> {
  const reader = body?.getReader();
  broken.addEventListener('abort', () => void reader?.cancel(broken.reason).catch(() => {}));
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    broken.throwIfAborted();
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}

function hasNoBody(status: number): boolean {
  return [204, 205, 304].includes(status);
}
