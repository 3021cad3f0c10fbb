import { connect, createServer, type Server, type Socket } from 'node:net';

/** Between a client and its server: the network, which can be away. */
export interface Gate {
  /** The address of the server by way of the gate. */
  url: string;
  /** Cuts all connections and refuses new ones. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function startGate(server: string, defaultPort: number): Promise<Gate> {
  const url = new URL(server);
  const target = { host: url.hostname, port: Number(url.port || defaultPort) };
  const sockets = new Set<Socket>();
  let port = 0;
  let gate: Server;
  const open = async () => {
    gate = createServer((client) => {
      const upstream = connect(target);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((resolve, reject) => {
      gate.once('error', reject);
      gate.listen(port, '127.0.0.1', resolve);
    });
    port = (gate.address() as { port: number }).port;
  };
  await open();
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    open,
    close: () =>
      new Promise((resolve) => {
        gate.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
