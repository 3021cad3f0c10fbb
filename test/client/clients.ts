import { inspect } from 'node:util';
import { type CallError, type Client, type ClientOptions, createClient } from 'service-webhooks/client';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type Api, type Reply, serveApi } from './serve-api.js';

export const KEY = 'acct_0123456789abcdefKEY';
export const START = Date.UTC(2026, 10, 21, 12);

/** A client whose waits take no time, and the milliseconds of each wait. */
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

/** A server for the tests of a file. Each begins with a new client of it, and without replies and requests. */
export function useApi() {
  const api = {} as Api & { client: Client };
  beforeAll(async () => void Object.assign(api, await serveApi()));
  beforeEach(() => {
    api.reset();
    api.client = clientOf(api.url).client;
  });
  afterAll(() => api.close());
  return api;
}

/** The methods and bodies of the requests since the test began. */
export const sentTo = ({ seen }: Api) => seen.map(({ method, body }) => [method, body && JSON.parse(body)]);

/** Returns the error that a call rejects with, after a check that it does not hold the key anywhere. */
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

/** Returns the error of a call that gets this reply to its only request. */
export function failureOn(api: Api, reply: Reply): ReturnType<typeof failureOf> {
  api.replies.push(reply);
  return failureOf(clientOf(api.url, { maxAttempts: 1 }).client.voices());
}

export const SIGNING_SECRET = 'whsec_dont_log_me';
/** The settings of an endpoint, and the endpoint that the service makes of them. */
export const SETTINGS = { url: 'https://app.example/hooks', events: ['stt.completed', 'stt.failed'] };
export const ENDPOINT = { id: 'we_1', ...SETTINGS };

/** An account limits record as the specification shows it. */
export const LIMITS = {
  plan: { type: 'CREATOR', name: 'Creator', api_access: true },
  credits: { remaining: 90, monthly_allocation: 100 },
  limits: {
    rate_limit_per_minute: 20,
    daily_request_limit: 2000,
    daily_requests_used: 3,
    daily_requests_remaining: 1997,
    max_keys_per_account: 2,
  },
};
