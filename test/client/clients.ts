import { inspect } from 'node:util';
import { type CallError, type ClientOptions, createClient } from 'service-webhooks/client';
import { expect } from 'vitest';

export const KEY = 'acct_0123456789abcdefKEY';
export const START = Date.UTC(2026, 10, 21, 12);

/** A client whose waits take no time, and what they would have been. */
export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const waits: number[] = [];
  let time = START;
  const client = createClient({
    apiKey: KEY,
    baseUrl,
    now: () => time,
    random: () => 1,
    sleep: async (ms) => {
      waits.push(ms);
      time += ms;
    },
    ...options,
  });
  return { client, waits };
}

/** What a call rejects with; the key is nowhere in it. */
export async function failureOf(call: Promise<unknown>): Promise<CallError & { code: string }> {
  const error = await call.then(
    (value) => expect.unreachable(`resolved to ${inspect(value)}`),
    (reason: unknown) => reason,
  );
  for (const shown of [inspect(error, { depth: null, showHidden: true }), JSON.stringify(error), String(error)]) {
    expect(shown).not.toContain(KEY);
  }
  expect((error as Error).stack).not.toContain(KEY);
  return error as CallError & { code: string };
}
