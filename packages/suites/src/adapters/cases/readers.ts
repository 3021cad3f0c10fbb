import { must } from '../../define-suite.js';
import { type AdapterTrialCase, aDelivery, aRequest, inShort, mustAnswer, mustBeBytes } from '../trial.js';

/** Cases in which other code reads the body before the receiver. */
export const readers: readonly AdapterTrialCase[] = [
  {
    name: 'a body that other code has read is refused, unless its bytes are still available',
    rules: ['A4', 'A5'],
    skip: ({ without }) => without?.parser,
    async run({ options, start }) {
      const { rawBodyFix } = options;
      const app = await start({ before: 'parser' });
      const delivery = aDelivery();
      const answer = await app.send(aRequest(delivery));
      if (rawBodyFix === undefined) {
        must(answer.status === 200, 'where no fix is needed, it must be accepted', inShort(answer));
        mustBeBytes(app.worked[0]?.body, delivery.body);
        return;
      }
      const expected = ['500 body_already_parsed', '500 body_already_read'];
      must(expected.includes(inShort(answer)), 'it must be refused for that', inShort(answer));
      must(app.worked.length === 0, 'nothing may be done', app.worked.length);
      const { hint } = (await app.decided('failed')).error;
      must(rawBodyFix.test(hint), `the hint must say ${rawBodyFix}`, hint);
      must(!hint.includes('\n'), 'the hint must be one line', hint);
    },
  },
  {
    name: 'an unsigned delivery is refused as missing_signature, also where other code has read its body',
    rules: ['A4'],
    skip: ({ without }) => without?.parser,
    async run({ options, start }) {
      const app = await start({ before: 'parser' });
      const unsigned = aRequest({ ...aDelivery(), headers: { 'content-type': 'application/json' } });
      await mustAnswer(app, unsigned, '401 missing_signature', `it must be refused at once (${options.form})`);
    },
  },
  {
    name: 'the exact bytes that a parser has kept are accepted',
    rules: ['A5'],
    skip: ({ without }) => without?.rawBody,
    async run({ start }) {
      const app = await start({ before: 'rawBody' });
      const delivery = aDelivery();
      await mustAnswer(app, aRequest(delivery), '200', 'it must be answered with 200');
      mustBeBytes(app.worked[0]?.body, delivery.body);
      const forged = aRequest({ ...aDelivery(), body: delivery.body });
      await mustAnswer(app, forged, '401 signature_mismatch', 'and others must be refused');
    },
  },
];
