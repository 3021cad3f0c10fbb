import { createServer } from 'node:http';

/** An app on a free port of loopback, with the address it has there. */
export async function listen(app) {
  const server = createServer(app);
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
