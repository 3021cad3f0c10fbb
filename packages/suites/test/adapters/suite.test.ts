import { type AdapterSuiteOptions, adapterSuite } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { HAS_HTTP2, listenHttp2, listenNode } from '../../../../test/adapters/mounts/listen.js';
import { BY_FETCH, ON_NODE, playByFetch, UNKNOWN_ON_NODE } from '../../../../test/adapters/mounts/play-ending.js';
import { endsRightly, PLANTED_BUGS, type PlantedBug, serveParts } from './planted-bugs.js';

type Form = AdapterSuiteOptions['form'];

const optionsOf = (form: Form, { parts = {}, listen = listenNode }: Partial<PlantedBug> = {}): AdapterSuiteOptions => ({
  form,
  serve: serveParts(form, parts, listen),
  rawBodyFix: /Do not parse it/,
  endings: ON_NODE,
  without: { rawBody: 'no parser keeps it', ...UNKNOWN_ON_NODE },
});

describe.each(['handler', 'middleware'] as const)('adapterSuite on a right adapter, as %s', (form) => {
  for (const { name, skip, run } of adapterSuite(optionsOf(form))) it.skipIf(skip)(name, run);
});

describe.skipIf(!HAS_HTTP2)('adapterSuite on a right adapter, as middleware over HTTP/2', () => {
  const cases = adapterSuite(optionsOf('middleware', { listen: listenHttp2 }));
  for (const { name, skip, run } of cases.filter(({ group }) => group === 'endings')) it.skipIf(skip)(name, run);
});

/** An adapter for Fetch that ends a claim by the status of what its route returns. */
const byStatus: AdapterSuiteOptions = {
  form: 'middleware',
  endings: BY_FETCH,
  serve: (app) => ({
    async fetch({ method, headers, body, signal }) {
      const begun = await app.receiver.begin({ method, headers, body, signal });
      if ('response' in begun) return new Response(begun.response.body, begun.response);
      const response = await playByFetch(app, begun.delivery, signal);
      await begun.settle(response.status < 300 ? 'ok' : 'failed');
      return response;
    },
  }),
};

const bugs = (['handler', 'middleware'] as const).flatMap((form) =>
  Object.entries(PLANTED_BUGS[form])
    .filter(([, { listen }]) => HAS_HTTP2 || listen !== listenHttp2)
    .map(([name, bug]) => [form, name, bug] as const),
);

describe('an adapter with a bug', () => {
  it.each(bugs)('the suite catches a %s that %s', async (form, _, { caughtBy, ...bug }) => {
    await expect(run(optionsOf(form, bug), caughtBy)).rejects.toThrow(/\(A\d: .+\)$/);
  });

  it.each([
    ['completes an error that a route returns', 'returns an error of the framework', 'stays'],
    ['completes a stream before it was sent', 'streams an answer that breaks', 'stays'],
    ['runs the route though the sender has left', 'answers 2xx', 'leaves during the claim'],
    ['completes an answer that nothing receives', 'answers 2xx', 'leaves during the route'],
  ])('the suite catches an adapter for Fetch that %s', async (_, route, sender) => {
    await expect(run(byStatus, endsRightly(route, sender))).rejects.toThrow(/\(A8: .+\)$/);
  });
});

function run(options: AdapterSuiteOptions, name: string): Promise<void> | undefined {
  return adapterSuite(options)
    .find((one) => one.name === name)
    ?.run();
}
