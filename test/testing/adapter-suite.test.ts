import type { Receiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { type AdapterSuiteOptions, adapterSuite } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';

const byFetch = (handlerOf: (receiver: Receiver) => (request: Request) => Promise<Response>): AdapterSuiteOptions => ({
  form: 'handler',
  serve: ({ receiver }) => ({ fetch: handlerOf(receiver) }),
});
const right = byFetch(webhookHandler);
const groupsOf = (form: AdapterSuiteOptions['form']) =>
  new Set(adapterSuite({ ...right, form }).map(({ group }) => group));

describe('the cases for an adapter', () => {
  it('are about one thing each, and hold it to a rule', () => {
    const cases = adapterSuite(right);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    for (const { rules } of cases) expect(rules[0]).toMatch(/^A\d$/);
  });

  it('are those of its form: a handler has no routes', () => {
    expect(groupsOf('handler')).toEqual(new Set(['bodies', 'answers', 'readers', 'connections']));
    expect(groupsOf('middleware')).toEqual(new Set([...groupsOf('handler'), 'routes']));
  });

  it('are skipped where they need what there is not, with the reason', () => {
    const skips = (without?: AdapterSuiteOptions['without']) =>
      adapterSuite({ ...right, without }).flatMap(({ skip }) => skip ?? []);
    expect(skips()).toEqual([]);
    expect(skips({})).toEqual([]);
    expect(new Set(skips({ parser: 'nothing reads it' }))).toEqual(new Set(['nothing reads it']));
  });

  it('pass where it keeps the rules, and else name the one that is broken', async () => {
    const name = 'hands on the very bytes that were sent';
    const run = (options: AdapterSuiteOptions) =>
      adapterSuite(options)
        .find((one) => one.name === name)
        ?.run();
    await expect(run(right)).resolves.toBeUndefined();
    const wrong = byFetch(() => async () => new Response(null, { status: 204 }));
    await expect(run(wrong)).rejects.toThrow(/must be answered with 200, got 204 \(A1: .+\)$/);
  });
});
