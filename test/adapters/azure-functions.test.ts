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

describe('an HTTP function of Azure', () => {
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
  ])('the status that Azure sends decides about a return value: %s', async (_, answer, decided) => {
    const { receiver, answers } = aReceiver({ on: undefined });
    await webhookMiddleware(receiver, () => answer)(delivery());
    expect(answers()).toEqual([decided]);
  });

  it('an async iterable that breaks releases the event', async () => {
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
