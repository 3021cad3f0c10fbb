import type { BegunDelivery, Delivery, WebhookRequest } from 'service-webhooks';
import { type AdapterSuiteOptions, adapterSuite } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { handler, middleware, rawBodyFix } from '../../../../test/adapters/mounts/fetch-app.js';

type Form = AdapterSuiteOptions['form'];
type Faults<Told> = Readonly<Record<string, (told: Told) => Told>>;
type End = Parameters<BegunDelivery['settle']>[0];

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const OF_ANSWERS: Faults<Answer> = {
  status: (answer) => ({ ...answer, status: answer.status === 200 ? 202 : 200 }),
  code: ({ body, ...answer }) => ({ ...answer, body: body.replace(/"(code|outcome)":"/, '$&not_') }),
  bare: (answer) => ({ ...answer, headers: {} }),
  schemeless: ({ headers: { 'www-authenticate': _, ...headers }, ...answer }) => ({ ...answer, headers }),
  sized: ({ headers, ...answer }) => ({ ...answer, headers: { ...headers, 'content-length': '0' } }),
  wordy: ({ body, ...answer }) => ({ ...answer, body: `${body} no disk signature_mismatch` }),
};

const OF_DELIVERIES: Faults<Delivery> = {
  bytes: (delivery) => ({ ...delivery, body: delivery.body.map((byte) => byte ^ 1) }),
  longer: (delivery) => ({ ...delivery, body: Uint8Array.of(...delivery.body, 0) }),
  event: (delivery) => ({ ...delivery, event: { ...delivery.event, id: 'wrong' } }),
  scheme: (delivery) => ({ ...delivery, scheme: 'legacy' }),
  secret: (delivery) => ({ ...delivery, secretIndex: 1 }),
  time: (delivery) => ({ ...delivery, signedAt: 1 }),
  endpoint: (delivery) => ({ ...delivery, unsigned: { ...delivery.unsigned, webhookId: 'wrong' } }),
  attempt: (delivery) => ({ ...delivery, unsigned: { ...delivery.unsigned, attempt: 7 } }),
};

const OF_HINTS: Faults<string> = { hint: () => 'Have a look.', lines: (hint) => `${hint}\n` };
const OF_ENDS: Faults<End> = { ok: () => 'ok', failed: () => 'failed', unknown: () => 'unknown' };

/** The faults that a case has to notice: `status 13` is the status of its first answer, and that of its third. */
const NOTICED: Readonly<Record<Form, Readonly<Record<string, string>>>> = {
  handler: {
    'the answer says in JSON what became of a delivery': 'code 1, bare 1',
    'an event whose work fails is released, and its next attempt runs': 'status 12, wordy 1',
    'a PermanentError of the handler ends the event': 'status 12',
    'a handler that misses the deadline is answered with 503, and its later result is recorded':
      'status 12, code 1, bare 2',
    'the work of a handler whose sender has left is finished and recorded': 'status 2, bare 2, unasked 1',
  },
  middleware: {
    'the work receives the exact bytes that were sent': 'status 1, bytes 1, longer 1, unasked 1',
    'a body that is not UTF-8 is verified as it is': 'status 1, code 1',
    'a byte order mark is verified as part of the body': 'wordy 1',
    'a body that arrives in chunks, without a length and split within a character, is verified':
      'status 1, bytes 1, longer 1, unasked 1',
    'an empty body is read as empty': 'status 1, code 1',
    'the body is parsed as JSON only after its signature is verified': 'status 123, code 123',
    'an event with a key such as __proto__ is accepted': 'status 1',
    'a body of 5 MiB is accepted, whatever the default limit of the framework is': 'status 1',
    'a body is accepted with any content type': 'status 123456',
    'a body whose content length is over the limit is refused': 'status 12, code 1',
    'a body that grows over the limit is refused': 'status 1, code 1',
    'a delivery with a missing, wrong or old signature is refused, and nothing works on it':
      'status 12345, code 12345, bare 12345, schemeless 12345, unasked 1',
    'a body with a content encoding is refused': 'status 1, code 1',
    'a delivery with two signature headers is refused, also where they were joined into one': 'status 12, code 12',
    'a method other than POST is answered 405, with the method that is allowed': 'status 123, code 123, bare 123',
    'the answer has the 2xx that the work asks for': 'status 123, sized 3, wordy 3',
    'a delivery that was handled before is acknowledged, and does not run again':
      'status 2, bare 2, failed 1, unknown 1, unasked 1',
    'an attempt that arrives while another one is in progress is answered 409': 'status 12, code 1, bare 1',
    'an event whose work fails is released, and its next attempt runs': 'status 12, ok 1, unknown 12, failed 2',
    'a delivery is not acknowledged while the store is unavailable': 'status 1, code 1, bare 1, unasked 1',
    'a body that other code has read is refused, unless its bytes are still available':
      'status 1, code 1, hint 1, lines 1, unasked 1',
    'an unsigned delivery is refused as missing_signature, also where other code has read its body': 'status 1, code 1',
    'the exact bytes that a parser has kept are accepted': 'status 12, code 2, bytes 1, longer 1, unasked 1',
    'no work runs for an upload that breaks off, and the app continues to receive': 'status 2, unasked 1',
    'the route receives the verified delivery': 'event 1, scheme 1, secret 1, time 1, endpoint 1, attempt 1, unasked 1',
    'an event whose route answers other than 2xx is released, and that answer is unchanged':
      'status 12345678, ok 1, unknown 1, unasked 12',
    'an event whose route answers any 2xx is completed': 'status 1357, bare 2468, failed 1, unknown 1, unasked 1',
    'a PermanentError of the route ends the event': 'status 12, unknown 1, unasked 1',
  },
};

/** Runs a case on an app that is right but for one fault: the `nth` answer, delivery, hint or end, or an unasked run. */
function runWith(form: Form, name: string, fault = '', nth = 1): Promise<void> | undefined {
  const tellerOf = <Told>(faults: Faults<Told>) => {
    let told = 0;
    return (value: Told): Told => {
      told += 1;
      return (told === nth && faults[fault]?.(value)) || value;
    };
  };
  const [toAnswer, toDelivery] = [tellerOf(OF_ANSWERS), tellerOf(OF_DELIVERIES)];
  const [toHint, toEnd] = [tellerOf(OF_HINTS), tellerOf(OF_ENDS)];
  let asked = 0;
  const serve: AdapterSuiteOptions['serve'] = (app) => {
    const hinted = ({ rawBodyFix: hint = '', ...request }: WebhookRequest) => ({
      ...request,
      rawBodyFix: toHint(hint),
    });
    const receive = (request: WebhookRequest) => app.receiver(hinted(request));
    const begin = async (request: WebhookRequest) => {
      const begun = await app.receiver.begin(hinted(request));
      if ('response' in begun) return begun;
      return { ...begun, settle: (end: End, error?: unknown) => begun.settle(toEnd(end), error) };
    };
    const fetch = { handler, middleware }[form]({
      ...app,
      receiver: Object.assign(receive, app.receiver, { begin }),
      route: (delivery, signal) => app.route(delivery && toDelivery(delivery), signal),
    });
    return {
      async fetch(request) {
        asked += 1;
        if (fault === 'unasked' && asked === nth) await app.route({} as Delivery).catch(() => {});
        const response = await fetch(request);
        const { status, headers } = response;
        const answer = toAnswer({ status, headers: Object.fromEntries(headers), body: await response.text() });
        // No Response, which would refuse a 204 with a body.
        return {
          ...answer,
          headers: new Headers(answer.headers),
          text: async () => answer.body,
        } as unknown as Response;
      },
    };
  };
  return adapterSuite({ form, serve, rawBodyFix })
    .find((one) => one.name === name)
    ?.run();
}

describe.each(['handler', 'middleware'] as const)('an app with one fault, as %s', (form) => {
  it.each(Object.entries(NOTICED[form]))('the case catches each fault: %s', async (name, noticed) => {
    await expect(runWith(form, name)).resolves.toBeUndefined();
    for (const [fault = '', places = ''] of noticed.split(', ').map((words) => words.split(' '))) {
      for (const nth of places) {
        await expect(runWith(form, name, fault, Number(nth)), `${fault} ${nth}`).rejects.toThrow(/\(A\d: .+\)$/s);
      }
    }
  });
});

it('every case of the suite catches some fault', () => {
  const covered = Object.values(NOTICED).flatMap((cases) => Object.keys(cases));
  for (const form of ['handler', 'middleware'] as const) {
    const cases = adapterSuite({ form, serve: () => expect.unreachable() }).filter(({ group }) => group !== 'endings');
    expect(cases.map(({ name }) => name).filter((name) => !covered.includes(name))).toEqual([]);
  }
});
