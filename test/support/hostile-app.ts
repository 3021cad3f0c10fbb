import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An app that answers every request with these bytes and closes the connection, or does what `answer` does. */
export async function serveBytes(answer: string | ((socket: Socket) => void)): Promise<{ url: string; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (typeof answer === 'string' ? socket.end(answer, 'latin1') : answer(socket)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port };
}

/** An answer with that status, as some program may write it. */
export function answerBytes(status: string): string {
  return `HTTP/1.1 ${status} Strange\r\nConnection: upgrade\r\nUpgrade: other\r\nContent-Length: 2\r\n\r\n{}`;
}

/** Statuses that HTTP does not have for a final answer. */
export const STRANGE_STATUSES = ['000', '099', '101', '150', '600', '999'];
