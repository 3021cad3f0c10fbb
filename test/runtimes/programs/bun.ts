import { serveEndpoints } from './endpoints.js';

declare const Bun: {
  serve(options: { hostname: string; port: number; fetch(request: Request): Promise<Response> }): { port: number };
};

console.log(Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: serveEndpoints }).port);
