import type { Receiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { type AdapterSuiteOptions, adapterSuite } from 'service-webhooks-suites';
import { describe, expect, it, vi } from 'vitest';

const FIRST = 'the work receives the exact bytes that were sent';
const READ = 'a body that other code has read is refused, unless its bytes are still available';
const byFetch = (handlerOf: (receiver: Receiver) => (request: Request) => Promise<Response>): AdapterSuiteOptions => ({
  form: 'handler',
  serve: ({ receiver }) => ({ fetch: handlerOf(receiver) }),
});
const right = byFetch(webhookHandler);
const groupsOf = (form: AdapterSuiteOptions['form']) =>
  new Set(adapterSuite({ ...right, form }).map(({ group }) => group));

describe('adapterSuite', () => {
  it('every case has a name of its own and quotes a rule', () => {
    const cases = adapterSuite(right);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    for (const { name, rules } of cases) expect(`${name} ${rules}`).toMatch(/^[a-z].+ A\d(,A\d)*$/);
  });

  it('a handler has no cases about routes', () => {
    expect(groupsOf('handler')).toEqual(new Set(['bodies', 'answers', 'readers', 'connections']));
    expect(groupsOf('middleware')).toEqual(new Set([...groupsOf('handler'), 'routes', 'endings']));
  });

  it('a case is skipped with the reason where the app lacks an ability', () => {
    const skips = (without?: AdapterSuiteOptions['without']) =>
      adapterSuite({ ...right, without }).flatMap(({ skip }) => skip ?? []);
    expect(skips()).toEqual([]);
    expect(skips({})).toEqual([]);
    const counts = {
      parser: 2,
      rawBody: 1,
      unparsed: 7,
      methods: 1,
      pieces: 3,
      hangUp: 33,
      throws: 1,
      late: 0,
      breaks: 0,
    };
    for (const [ability, count] of Object.entries(counts)) {
      const without = { [ability]: 'there is none' };
      const cases = adapterSuite({ ...right, form: 'middleware', without });
      expect(cases.filter(({ skip }) => skip === 'there is none').length, ability).toBe(count);
    }
    expect(skips({ hangUp: 'it is called' })).toEqual(['it is called']);
  });

  it('a case is skipped where the app does not play its ending of a route', () => {
    const skipped = (endings: AdapterSuiteOptions['endings']) =>
      adapterSuite({ ...right, form: 'middleware', endings }).flatMap(({ skip }) => skip ?? []);
    expect(new Set(skipped(['streams']))).toContain("serve() does not play 'throws at once'");
    expect(skipped(['streams'])).not.toContain("serve() does not play 'streams'");
  });

  it('a failing case names the broken rule', async () => {
    await expect(run(right)).resolves.toBeUndefined();
    const wrong = byFetch(() => async () => new Response(null, { status: 204 }));
    await expect(run(wrong)).rejects.toThrow(/must be answered with 200, got 204 \(A1: .+\)$/);
  });

  it.each([
    ['the work receives the exact bytes that were sent', 'handler', 'no answer (A1: '],
    [
      'no work runs for an upload that breaks off, and the app continues to receive',
      'handler',
      'no decision among:  (A6: ',
    ],
    ['an attempt that arrives while another one is in progress is answered 409', 'handler', 'no work 1 among:  (A3: '],
    ['an event whose route answers any 2xx is completed', 'middleware', 'no decision among:  (A8: '],
  ] as const)('a case fails after ten seconds of waiting: %s', async (name, form, says) => {
    vi.useFakeTimers();
    let failure: string | undefined;
    const call = () =>
      says.startsWith('no answer')
        ? new Promise<never>(() => {})
        : Promise.resolve({ status: 200, headers: {}, body: '' });
    run({ form, serve: () => ({ call }) }, name).catch((error: Error) => {
      failure = error.message;
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(failure).toContain(says);
  });

  it('a failure lists the outcomes that came instead', async () => {
    vi.useFakeTimers();
    const serve: AdapterSuiteOptions['serve'] = ({ receiver }) => ({
      async call(request) {
        const answer = await receiver({ ...request, headers: Object.fromEntries(request.headers), body: '' });
        return { ...answer, status: 503, body: '{"error":{"code":"handler_timeout"}}' };
      },
    });
    const failed = expect(
      run(
        { form: 'handler', serve },
        'a handler that misses the deadline is answered with 503, and its later result is recorded',
      ),
    ).rejects;
    const said = failed.toThrow(
      /^no notice of late_result among: rejected WebhookError: .*signature_mismatch.* \(A3: /,
    );
    await vi.advanceTimersByTimeAsync(10_000);
    await said;
  });

  it('an error of the app itself fails the case, and the app is closed', async () => {
    const close = vi.fn();
    const call = () => Promise.reject(new Error('a fault of its own'));
    await expect(run({ form: 'handler', serve: () => ({ call, close }) })).rejects.toThrow(/^a fault of its own$/);
    expect(close).toHaveBeenCalledOnce();
  });

  it('each case names the parser that must run before the receiver', async () => {
    const asked: Record<string, string> = {};
    let before = '';
    const recording: AdapterSuiteOptions['serve'] = (app) => {
      before = app.before;
      return { call: () => Promise.reject(new Error('a fault of its own')) };
    };
    for (const { name, group, run } of adapterSuite({ ...right, serve: recording })) {
      if (group !== 'readers' && name !== FIRST) continue;
      await expect(run()).rejects.toThrow('a fault of its own');
      asked[name] = before;
    }
    expect(asked).toEqual({
      [FIRST]: 'nothing',
      [READ]: 'parser',
      'an unsigned delivery is refused as missing_signature, also where other code has read its body': 'parser',
      'the exact bytes that a parser has kept are accepted': 'rawBody',
    });
  });

  it('a parsed body counts as a body that other code has read', async () => {
    const parsed = (status?: number): AdapterSuiteOptions => ({
      form: 'handler',
      rawBodyFix: /Do not parse it/,
      serve: ({ receiver }) => ({
        async call({ method, headers, body }) {
          const request = {
            method,
            headers: Object.fromEntries(headers),
            body: JSON.parse(new TextDecoder().decode(body)),
          };
          const answer = await receiver({ ...request, rawBodyFix: 'Do not parse it.' });
          return { ...answer, status: status ?? answer.status };
        },
      }),
    });
    await expect(run(parsed(), READ)).resolves.toBeUndefined();
    await expect(run(parsed(400), READ)).rejects.toThrow(
      /^it must be refused for that, got 400 body_already_parsed \(A4: /,
    );
  });

  it('an adapter that needs no fix must deliver the exact bytes', async () => {
    await expect(run(right, READ)).resolves.toBeUndefined();
    const answering = (status: number): AdapterSuiteOptions => ({
      form: 'handler',
      serve: () => ({ call: async () => ({ status, headers: {}, body: '' }) }),
    });
    await expect(run(answering(202), READ)).rejects.toThrow(
      /^where no fix is needed, it must be accepted, got 202 \(A4: /,
    );
    await expect(run(answering(200), READ)).rejects.toThrow(
      /^the bytes of the delivery must be those that were sent \(A4: /,
    );
  });

  it('a route without the delivery fails the case', async () => {
    const serve: AdapterSuiteOptions['serve'] = ({ route }) => ({
      call: async () => ({ status: await route(undefined), headers: {}, body: '' }),
    });
    await expect(run({ form: 'middleware', serve })).rejects.toThrow(/^the route must get the delivery \(A1: /);
  });
});

async function run(options: AdapterSuiteOptions, name = FIRST): Promise<void> {
  await adapterSuite(options)
    .find((one) => one.name === name)
    ?.run();
}
