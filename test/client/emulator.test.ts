import { createReceiver, type WebhookEvent } from 'service-webhooks';
import {
  API_ERRORS,
  type ApiErrorCode,
  type ClientOptions,
  canonicalCode,
  createClient,
  endpointsIn,
  ensureEndpoint,
  isServiceApiError,
  PLANS,
} from 'service-webhooks/client';
import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf } from './clients.js';

const DAY = 86_400_000;
/** Far from midnight, because the client waits for a daily limit that ends within its time limit. */
const START = Date.UTC(2026, 8, 1, 12);

let emulator: Emulator;
let url: string;
let receive: (request: Request) => Promise<Response>;
beforeAll(async () => {
  emulator = createEmulator({
    startAt: START,
    account: { plan: 'ENTERPRISE' },
    fetch: (request) => receive(request),
  });
  ({ url } = await emulator.listen());
});
afterAll(() => emulator.close());

/** A client with the clock of the emulator. */
function clientWith(apiKey = emulator.apiKey, options: Partial<ClientOptions> = {}) {
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms);
    await emulator.advance(ms);
  };
  const client = createClient({ apiKey, baseUrl: url, now: emulator.now, random: () => 0, sleep, ...options });
  return { client, waits };
}

describe('API_ERRORS', () => {
  const rows = Object.entries(API_ERRORS) as [ApiErrorCode, (typeof API_ERRORS)[ApiErrorCode]][];

  it.each(rows)('the client follows the retry advice of %s', async (code, row) => {
    const { client, waits } = clientWith(emulator.apiKey, { maxAttempts: 2, timeoutMs: 2 * DAY });
    const remove = emulator.script({ path: '/v1/voices', error: { code, param: 'text' } });
    const failure = await failureOf(client.voices());
    remove();
    expect(isServiceApiError(failure) && failure.is(code)).toBe(true);
    expect(failure).toMatchObject({
      code: canonicalCode(code),
      status: row.status,
      type: row.type,
      retry: row.retry,
      message: expect.stringMatching(/\w/),
      requestId: expect.stringMatching(/^req_/),
      docUrl: `${url}/docs/errors/${code}`,
      param: 'text',
      retryAfter: row.status === 429 ? expect.any(Number) : undefined,
      attempts: row.retry === 'now' || row.retry === 'later' ? 2 : 1,
    });
    expect(waits).toEqual({ now: [250], later: [expect.any(Number)] }[row.retry as string] ?? []);
  });
});

describe('the limits of a plan', () => {
  function clientOn(plan: 'CREATOR' | 'ENTERPRISE', options?: Partial<ClientOptions>) {
    const { id: account } = emulator.accounts.create({ plan });
    return clientWith(emulator.keys.create({ account }), options);
  }

  it.each(['CREATOR', 'ENTERPRISE'] as const)('an account on %s has the numbers of PLANS', async (plan) => {
    const { client } = clientOn(plan);
    const { data, sandbox } = await client.account.apiLimits();
    expect(data.plan).toEqual({ type: plan, name: PLANS[plan].name, api_access: true });
    expect(data.limits).toMatchObject({
      rate_limit_per_minute: PLANS[plan].requestsPerMinute,
      max_keys_per_account: PLANS[plan].accountKeys,
      daily_requests_used: 1,
    });
    expect(client.rate).toMatchObject({ plan, limit: PLANS[plan].requestsPerMinute, dailyUsed: 1 });
    expect(sandbox).toBe(false);
  });

  it('the limiter sends 45 requests at 20 a minute without a refusal', async () => {
    const { client, waits } = clientOn('CREATOR', { limiter: true, timeoutMs: 300_000 });
    const before = emulator.totals.requests;
    const answers = [];
    for (let i = 0; i < 45; i += 1) answers.push(await client.account.apiLimits());
    expect(emulator.totals.requests - before).toBe(45);
    expect(answers.filter(({ attempts }) => attempts > 1)).toEqual([]);
    expect(waits).toEqual([60_000, 60_000]);
  });
});

describe('ensureEndpoint', () => {
  it('a created endpoint gets deliveries that the returned secret verifies', async () => {
    const { client } = clientWith();
    const target = { url: 'https://app.example/webhooks', events: ['dubbing.completed' as const] };
    const made = await ensureEndpoint(target, client);
    if (made.action !== 'created') throw new Error(made.action);
    const events: WebhookEvent[] = [];
    const receiver = createReceiver({
      secret: made.signingSecret.reveal(),
      now: emulator.now,
      on: { '*': (event) => void events.push(event) },
    });
    receive = async ({ method, headers, body }) => {
      const answer = await receiver({ method, headers, body });
      return new Response(answer.body, answer);
    };
    const { event } = await emulator.emit('dubbing.completed');
    await emulator.settled();
    expect(emulator.attempts.list().map(({ answer }) => answer?.status)).toEqual([200]);
    expect(events).toEqual([event]);

    expect(await ensureEndpoint(target, client)).toEqual({ action: 'unchanged', id: made.id, others: [] });
    const more = { ...target, events: ['dubbing.completed' as const, 'dubbing.failed' as const] };
    expect(await ensureEndpoint(more, client)).toMatchObject({ action: 'updated', id: made.id });
    expect(endpointsIn((await client.webhooks.list()).data)).toEqual([{ id: made.id, ...more }]);

    await client.webhooks.delete(String(made.id));
    expect(endpointsIn((await client.webhooks.list()).data)).toEqual([]);
  });
});
