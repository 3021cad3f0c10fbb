import { connect, createServer, type Socket } from 'node:net';

/** Between a client and its server: forwards, until it has to lose a reply. */
export interface TcpProxy {
  port: number;
  /** Cuts the connection instead of forwarding the next thing the server says. By then the server has done its part. */
  loseNextReply(): void;
  /** Cuts all connections; new ones are accepted. */
  cut(): void;
  /** Holds back what either side says, without closing a connection, until `resume()`. */
  pause(): void;
  resume(): void;
  /** How many replies were lost. */
  lost(): number;
  stop(): Promise<void>;
}

/** Starts a proxy before the server of a URL, and returns the URL that leads through it. */
export async function startProxyOf(serverUrl: string): Promise<{ proxy: TcpProxy; url: string }> {
  const url = new URL(serverUrl);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}

export function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let armed = false;
  let lost = 0;
  let isPaused = false;
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => upstream.write(data));
    if (isPaused) {
      client.pause();
      upstream.pause();
    }
    upstream.on('data', (reply) => {
      if (!armed) return client.write(reply);
      armed = false;
      lost += 1;
      return client.destroy();
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve({
        port: (server.address() as { port: number }).port,
        loseNextReply() {
          armed = true;
        },
        cut() {
          for (const socket of sockets) socket.destroy();
        },
        pause() {
          isPaused = true;
          for (const socket of sockets) socket.pause();
        },
        resume() {
          isPaused = false;
          for (const socket of sockets) socket.resume();
        },
        lost: () => lost,
        stop: () =>
          new Promise((stopped) => {
            server.close(() => stopped());
            for (const socket of sockets) socket.destroy();
          }),
      });
    });
  });
}
