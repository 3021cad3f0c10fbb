import { describe, expect, it } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { throwing } from './traps.js';

const unsignedOf = async (headers: unknown, body = 'x') => {
  const { receiver, find } = aReceiver();
  await receiver({ method: 'POST', headers: headers as never, body });
  return find('rejected').unsigned;
};

describe('the unsigned part of a refused request', () => {
  it('the outcome has the webhook id, attempt, declared length and header names', async () => {
    const { receiver, find } = aReceiver();
    const request = aRequest({
      secret: 'a guess',
      headers: {
        'X-Service-Webhook-Id': 'endpoint_1',
        'X-Service-Attempt': '3',
        'Content-Length': '217',
        'X-Forwarded-For': '10.0.0.7',
      },
    });
    await receiver(request);
    const outcome = find('rejected');
    expect(outcome.delivery).toBeUndefined();
    expect(outcome.unsigned).toEqual({
      webhookId: 'endpoint_1',
      attempt: 3,
      contentLength: 217,
      headerNames: expect.arrayContaining(['x-service-signature-v2', 'x-service-webhook-id', 'x-forwarded-for']),
    });
    expect(JSON.stringify(outcome)).not.toContain('10.0.0.7');
  });

  it('the outcome has no other header value, in whichever form the headers are given', async () => {
    const pairs: [string, string][] = [
      ['X-Service-Webhook-Id', 'endpoint_1'],
      ['Authorization', 'Bearer canary'],
    ];
    for (const headers of [Object.fromEntries(pairs), new Headers(pairs), pairs, new Map(pairs).entries()]) {
      const unsigned = await unsignedOf(headers);
      expect(unsigned.webhookId).toBe('endpoint_1');
      expect([...unsigned.headerNames].sort()).toEqual(['authorization', 'x-service-webhook-id']);
      expect(JSON.stringify(unsigned)).not.toContain('canary');
    }
  });

  it('the outcome has at most 50 header names, of at most 100 characters', async () => {
    const headers = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}-${'n'.repeat(300)}`, 'v']));
    const unsigned = await unsignedOf({ 'x-service-webhook-id': 'w'.repeat(10_000), ...headers });
    expect(unsigned.webhookId).toHaveLength(100);
    expect(unsigned.headerNames).toHaveLength(50);
    expect(Math.max(...unsigned.headerNames.map(({ length }) => length))).toBe(100);
  });

  it('the outcome of a GET request whose property headers throws has an empty list of header names', async () => {
    const { receiver, find } = aReceiver();
    const request = Object.defineProperty({ method: 'GET', body: '' }, 'headers', { get: throwing });
    expect((await receiver(request as never)).status).toBe(405);
    expect(find('rejected').unsigned).toEqual({ headerNames: [] });
  });

  it('the outcome of a GET request whose headers throw has an empty list of header names', async () => {
    const { receiver, find } = aReceiver();
    const headers = { append: throwing, get: throwing } as unknown as Headers;
    await receiver({ method: 'GET', headers, body: '' });
    expect(find('rejected').unsigned).toEqual({ headerNames: [] });
  });

  it.each([['-1'], ['1e3'], [' 7'], ['9'.repeat(16)], ['abc']])(
    'a declared length of %j is left out of the outcome',
    async (length) => {
      expect((await unsignedOf([['content-length', length]])).contentLength).toBeUndefined();
    },
  );

  it.each([[undefined], [null], [7], [[['only a name']]], ['text']])(
    'the outcome of broken headers has no header names: %j',
    async (headers) => {
      const { receiver, outcomes } = aReceiver();
      await receiver({ method: 'POST', headers: headers as never, body: 'x' });
      const [outcome] = outcomes;
      if (outcome?.kind === 'rejected') expect(outcome.unsigned.headerNames.length).toBeLessThanOrEqual(1);
      else expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'invalid_option' } });
    },
  );
});
