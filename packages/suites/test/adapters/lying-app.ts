import type { BegunDelivery, Delivery, WebhookRequest } from 'service-webhooks';
import type { AppUnderTest, ServedApp } from 'service-webhooks-suites';
import { handler, middleware } from '../../../../test/adapters/mounts/fetch-app.js';

type Lies<Told> = Readonly<Record<string, (told: Told) => Told>>;

interface Told {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const OF_ANSWER: Lies<Told> = {
  '200': (answer) => ({ ...answer, status: 200 }),
  '202': (answer) => ({ ...answer, status: 202 }),
  '500': (answer) => ({ ...answer, status: 500 }),
  bare: (answer) => ({ ...answer, headers: {} }),
  schemeless: ({ headers, ...answer }) => ({ ...answer, headers: { 'content-type': headers['content-type'] ?? '' } }),
  long: ({ headers, ...answer }) => ({ ...answer, headers: { ...headers, 'content-length': '0' } }),
  reworded: ({ body, ...answer }) => ({ ...answer, body: body.replace(/"(code|outcome)":"/, '$&not_') }),
  wordy: (answer) => ({ ...answer, body: `${answer.body} no disk signature_mismatch` }),
};

const OF_WORK: Lies<Delivery> = {
  longer: (delivery) => ({ ...delivery, body: Uint8Array.of(...delivery.body, 0) }),
  other: (delivery) => ({ ...delivery, body: delivery.body.map((byte) => byte ^ 1) }),
  event: (delivery) => ({ ...delivery, event: { ...delivery.event, id: 'wrong' } }),
  scheme: (delivery) => ({ ...delivery, scheme: 'legacy' }),
  secret: (delivery) => ({ ...delivery, secretIndex: 1 }),
  time: (delivery) => ({ ...delivery, signedAt: 1 }),
  endpoint: (delivery) => ({ ...delivery, unsigned: { ...delivery.unsigned, webhookId: 'wrong' } }),
  attempt: (delivery) => ({ ...delivery, unsigned: { ...delivery.unsigned, attempt: 7 } }),
};

const OF_HINT: Lies<string> = {
  other: () => 'Have a look.',
  lines: (hint) => `${hint}\n`,
};

type Settled = Parameters<BegunDelivery['settle']>[0];

const OF_END: Lies<Settled> = {
  ok: () => 'ok',
  failed: () => 'failed',
  unknown: () => 'unknown',
};

/** A right app but for one thing that it tells: with `answer 2 500` the status of its second answer. */
export function lyingApp(form: 'handler' | 'middleware', lies: string): (app: AppUnderTest) => ServedApp {
  const about = <Told>(what: string, known: Lies<Told>) => {
    let nth = 0;
    return (told: Told): Told => {
      nth += 1;
      const found = lies.split(' and ').find((lie) => lie.startsWith(`${what} ${nth} `));
      const lie = known[found?.split(' ')[2] ?? ''];
      return lie ? lie(told) : told;
    };
  };
  const toldOf = {
    answer: about('answer', OF_ANSWER),
    work: about('work', OF_WORK),
    hint: about('hint', OF_HINT),
    end: about('end', OF_END),
  };
  let requests = 0;
  return (app) => {
    const { receiver } = app;
    const hinted = ({ rawBodyFix = '', ...request }: WebhookRequest) => ({
      ...request,
      rawBodyFix: toldOf.hint(rawBodyFix),
    });
    const begin = async (request: WebhookRequest) => {
      const begun = await receiver.begin(hinted(request));
      if ('response' in begun) return begun;
      return { ...begun, settle: (how: Settled, error?: unknown) => begun.settle(toldOf.end(how), error) };
    };
    const serve = { handler, middleware }[form]({
      ...app,
      receiver: Object.assign((request: WebhookRequest) => receiver(hinted(request)), receiver, { begin }),
      route: (delivery, signal) => app.route(delivery && toldOf.work(delivery), signal),
    });
    return {
      async fetch(request) {
        requests += 1;
        if (lies === `request ${requests} unasked`) await app.route({} as Delivery).catch(() => {});
        const response = await serve(request);
        const headers = Object.fromEntries(response.headers);
        const told = toldOf.answer({ status: response.status, headers, body: await response.text() });
        // No Response, which would refuse a 204 with a body.
        return { status: told.status, headers: new Headers(told.headers), text: async () => told.body } as Response;
      },
    };
  };
}
