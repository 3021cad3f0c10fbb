import { tamper } from 'service-webhooks/testing';
import { must } from '../../define-suite.js';
import { createGate } from '../../waiting.js';
import type { SentAnswer } from '../send.js';
import { type AdapterTrialCase, aDelivery, aRequest, inShort, mustAnswer, triesOnce } from '../trial.js';

export const answers: readonly AdapterTrialCase[] = [
  {
    name: 'a delivery with a missing, wrong or old signature is refused, and nothing works on it',
    rules: ['A3', 'A7'],
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery();
      const refusals = {
        '401 missing_signature': aRequest({ ...delivery, headers: { 'content-type': 'application/json' } }),
        '401 signature_mismatch': aRequest(tamper.reserialisedBody(delivery)),
        '401 timestamp_too_old': aRequest(tamper.stale(delivery)),
        '401 legacy_not_accepted': aRequest(tamper.strippedV2(delivery)),
        '401 malformed_signature': aRequest(delivery, { 'x-service-signature-v2': 'v1=zz' }),
      };
      for (const [expected, request] of Object.entries(refusals)) {
        const { status, headers, text } = await app.send(request);
        must(inShort({ status, headers, text }) === expected, `must be answered with ${expected}`, { status, text });
        must(isJson(headers), 'it must be JSON', headers);
        must(headers['www-authenticate'] === 'Webhook', 'a 401 must name a scheme', headers);
      }
      must(app.worked.length === 0, 'nothing may be done for them', app.worked.length);
    },
  },
  {
    name: 'a body with a content encoding is refused',
    rules: ['A3'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const encoded = aRequest(aDelivery(), { 'content-encoding': 'gzip' });
      await mustAnswer(app, encoded, '415 unsupported_content_encoding', 'it must be refused for that');
    },
  },
  {
    name: 'a delivery with two signature headers is refused, also where they were joined into one',
    rules: ['A3'],
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery();
      const value = `${delivery.headers['x-service-signature-v2']}`;
      const { headers, ...request } = aRequest(delivery);
      const two = [...headers, ['x-service-signature-v2', value] as const];
      await mustAnswer(app, { ...request, headers: two }, '401 malformed_signature', 'two must be refused');
      const one = { 'x-service-signature-v2': `${value}, ${value}` };
      await mustAnswer(app, aRequest(delivery, one), '401 malformed_signature', 'joined ones must be refused');
    },
  },
  {
    name: 'a method other than POST is answered 405, with the method that is allowed',
    rules: ['A3'],
    skip: ({ without }) => without?.methods,
    async run(trial) {
      const app = await trial.start();
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await app.send({ ...aRequest(), method, body: new Uint8Array() });
        must(inShort(answer) === '405 method_not_allowed', `${method} must be refused`, inShort(answer));
        must(answer.headers['allow'] === 'POST', 'allow must say POST', answer.headers);
      }
    },
  },
  {
    name: 'the answer has the 2xx that the work asks for',
    rules: ['A3'],
    async run(trial) {
      for (const status of [200, 202, 204]) {
        const app = await trial.start({ work: () => status });
        const answer = await app.send(aRequest());
        must(answer.status === status, `${status} must be answered`, answer.status);
        must(status !== 204 || answer.text === '', 'a 204 must have no body', answer.text);
        must(status !== 204 || !('content-length' in answer.headers), 'nor the length of one', answer.headers);
      }
    },
  },
  {
    name: 'the answer says in JSON what became of a delivery',
    rules: ['A3'],
    appliesTo: ({ form }) => form === 'handler',
    async run(trial) {
      const { headers, text } = await (await trial.start()).send(aRequest());
      must(isJson(headers), 'the content type must be that of JSON', headers);
      must(text === '{"outcome":"handled"}', 'the body must be that of the receiver', text);
    },
  },
  {
    name: 'a delivery that was handled before is acknowledged, and does not run again',
    rules: ['A3', 'A8'],
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery();
      await app.send(aRequest(delivery));
      await app.decided('handled');
      const answer = await app.send(aRequest(delivery.again({ attempt: 2 })));
      must(answer.status === 200, 'it must be acknowledged with 200', inShort(answer));
      must(answer.headers['idempotency-replayed'] === 'true', 'its headers must say so', answer.headers);
      must(app.worked.length === 1, 'the work must be done once', app.worked.length);
    },
  },
  {
    name: 'an attempt that arrives while another one is in progress is answered 409',
    rules: ['A3', 'A8'],
    async run(trial) {
      const { open, opened } = createGate();
      const app = await trial.start({ work: () => opened.then(() => 200) });
      const delivery = aDelivery();
      const first = app.begin(aRequest(delivery));
      await app.working(1);
      const second = await app.send(aRequest(delivery.again()));
      open();
      must(inShort(second) === '409 delivery_in_progress', 'the second attempt must be refused', inShort(second));
      must(Number(second.headers['retry-after']) > 0, 'and when to retry', second.headers);
      const { status } = await first.answer;
      must(status === 200 && app.worked.length === 1, 'the first attempt must end well', status);
    },
  },
  {
    name: 'an event whose work fails is released, and its next attempt runs',
    rules: ['A8'],
    async run({ options, start }) {
      let broken = true;
      const app = await start({
        work() {
          if (broken) throw new Error('no disk');
          return 200;
        },
      });
      const delivery = aDelivery();
      const first = await app.send(aRequest(delivery));
      must(first.status >= 500, 'the failure must be answered with 5xx', inShort(first));
      const shown = options.form === 'handler' && first.text.includes('no disk');
      must(!shown, 'what was thrown is not for the sender', first.text);
      await app.decided('failed');
      broken = false;
      await mustAnswer(app, aRequest(delivery.again()), '200', 'the next attempt must be accepted');
      const { attempt } = await app.decided('handled');
      must(attempt === 2, 'and count as the second', attempt);
    },
  },
  {
    name: 'a PermanentError of the handler ends the event',
    rules: ['A3', 'A8'],
    appliesTo: ({ form }) => form === 'handler',
    run: triesOnce,
  },
  {
    name: 'a delivery is not acknowledged while the store is unavailable',
    rules: ['A3', 'A7'],
    async run(trial) {
      const app = await trial.start({ storeDown: true });
      const answer = await app.send(aRequest());
      must(inShort(answer) === '503 store_unavailable', 'it must say so', inShort(answer));
      must(Number(answer.headers['retry-after']) > 0, 'and when to retry', answer.headers);
      must(app.worked.length === 0, 'nothing may be done', app.worked.length);
    },
  },
  {
    name: 'a handler that misses the deadline is answered with 503, and its later result is recorded',
    rules: ['A3', 'A8'],
    appliesTo: ({ form }) => form === 'handler',
    async run(trial) {
      const { open, opened } = createGate();
      const app = await trial.start({ work: () => opened.then(() => 200), deadlineMs: 300 });
      const delivery = aDelivery();
      const late = await app.send(aRequest(delivery));
      must(inShort(late) === '503 handler_timeout', 'it must say that it is late', inShort(late));
      open();
      await app.noticed('late_result');
      const { status, headers } = await app.send(aRequest(delivery.again()));
      must(status === 200 && headers['idempotency-replayed'] === 'true', 'the retry must be a duplicate', status);
    },
  },
];

/** Returns whether a body is JSON. A framework may add a charset. */
function isJson({ 'content-type': type }: SentAnswer['headers']): boolean {
  return type?.split(';')[0] === 'application/json';
}
