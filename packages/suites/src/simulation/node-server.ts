import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createConnection } from './connection.js';
import type { Server } from './network.js';
import { outsideOfProcesses, type SimulatedProcess } from './processes.js';
import type { Random } from './random.js';
import type { Story } from './story.js';
import type { VirtualTime } from './virtual-time.js';

export interface NodeServerParts {
  process: SimulatedProcess;
  time: VirtualTime;
  random: Random;
  story: Story;
}

/** Returns the function that serves requests with a listener of Node's HTTP server, each on a connection in memory. */
export function nodeServer(
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
  { process, time, random, story }: NodeServerParts,
): Server['serve'] {
  const server = createServer(async (req, res) => {
    try {
      await listener(req, res);
    } catch (error) {
      story.tell(process.name, `ends with an uncaught error: ${error}`); // as Node ends a process
      process.kill();
    }
  });
  return (request, broken) => {
    const { near, far } = createConnection(outsideOfProcesses, process.resume, { time, random });
    server.emit('connection', far);
    return outsideOfProcesses(() => exchange(request, near, broken));
  };
}

/** Sends a request over a connection, and resolves to the response once its whole body has arrived. */
function exchange({ url, method, headers, body }: Request, connection: Duplex, broken: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { host, pathname, search } = new URL(url);
    const sending = httpRequest({
      createConnection: () => connection,
      method,
      path: pathname + search,
      headers: { host, ...Object.fromEntries(headers) },
    });
    const send = async () => {
      for await (const bytes of body ?? []) await new Promise((sent) => sending.write(bytes, sent));
      sending.end();
    };
    sending.on('error', reject);
    sending.on('response', (incoming) => toResponse(incoming).then(resolve, reject));
    broken.addEventListener('abort', () => outsideOfProcesses(() => sending.destroy()));
    send().catch((error) => sending.destroy(error));
  });
}

async function toResponse(incoming: IncomingMessage): Promise<Response> {
  const body = await text(incoming);
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(body || null, { status: incoming.statusCode ?? 0, headers });
}
