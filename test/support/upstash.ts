import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis as Upstash } from '@upstash/redis';
import { openIoredis } from './redis.js';

/** A local stand-in for Upstash: its REST protocol in front of a real Redis, and the real client. */
export interface UpstashStandIn {
  open(): Upstash;
  stop(): Promise<void>;
}

type Command = [name: string, ...args: string[]];
type Answer = { result: unknown } | { error: string };

export async function startUpstash(redisUrl: string): Promise<UpstashStandIn> {
  const redis = openIoredis(redisUrl);
  const run = ([name, ...args]: Command): Promise<Answer> =>
    redis.call(name, ...args).then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.message }),
    );

  async function answer(request: IncomingMessage): Promise<Answer | Answer[]> {
    const asked = JSON.parse(await text(request));
    const encoded = request.headers['upstash-encoding'] === 'base64';
    const encode = (given: Answer) => ('result' in given && encoded ? { result: toBase64(given.result) } : given);
    if (request.url === '/pipeline') return (await Promise.all((asked as Command[]).map(run))).map(encode);
    return encode(await run(asked));
  }

  const server = createServer(async (request, response) => {
    const content = await answer(request);
    const status = 'error' in content ? 400 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    open: () => new Upstash({ url: `http://127.0.0.1:${port}`, token: 'any', enableTelemetry: false }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      redis.disconnect();
    },
  };
}

/** Texts only, as the service does it; the client takes "OK" for not encoded. */
function toBase64(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(toBase64);
  return typeof result === 'string' && result !== 'OK' ? Buffer.from(result).toString('base64') : result;
}
