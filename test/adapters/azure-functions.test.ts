import { type AzureRequestLike, webhookMiddleware } from 'service-webhooks/azure-functions';
import { describe, expect, it } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { calledMounts } from './mounts/azure-functions.js';
import { UNSERIALISABLE } from './returned-answers.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);

const delivery = (): AzureRequestLike => {
  const { method, headers, body } = aRequest();
  return { method, headers: new Headers(headers as Record<string, string>), body, bodyUsed: false };
};

describe('the adapter for Azure Functions', () => {
  it.each<[string, unknown, string]>([
    ['text, which Azure refuses', 'done', 'failed'],
    ...UNSERIALISABLE.map(([what, data]): [string, unknown, string] => [
      `a jsonBody ${what}`,
      { jsonBody: data },
      'failed',
    ]),
    ['a jsonBody', { jsonBody: { done: true } }, 'handled'],
    ['a jsonBody with 503', { status: 503, jsonBody: { later: true } }, 'failed'],
    ['nothing', undefined, 'handled'],
    ['null', null, 'handled'],
  ])(
    'the event is completed or released by the status that Azure sends for the result: %s',
    async (_, answer, decided) => {
      const { receiver, answers } = aReceiver({ on: undefined });
      await webhookMiddleware(receiver, () => answer)(delivery());
      expect(answers()).toEqual([decided]);
    },
  );

  it('the event is released when an async iterable as the body throws', async () => {
    const { receiver, answers } = aReceiver({ on: undefined });
    const body = {
      async *[Symbol.asyncIterator]() {
        yield new Uint8Array(1);
        throw new Error('it breaks');
      },
    };
    const answer = await webhookMiddleware(receiver, () => ({ body }))(delivery());
    expect(answers()).toEqual([]);
    await expect(new Response(answer.body as unknown as ReadableStream).text()).rejects.toThrow();
    expect(answers()).toEqual(['failed']);
  });
});
