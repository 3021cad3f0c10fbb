import { serveEndpoints } from './endpoints.js';

declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(address: { port: number }): void },
    fetch: (request: Request) => Promise<Response>,
  ): void;
};

Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: ({ port }) => console.log(port) }, serveEndpoints);
