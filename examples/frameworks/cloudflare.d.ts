/** What Wrangler types for workers.js from its configuration. */
declare module 'cloudflare:workers' {
  export const env: { WEBHOOK_SECRET: string };
  export function waitUntil(work: Promise<unknown>): void;
}
