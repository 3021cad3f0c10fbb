import { must } from '../../define-suite.js';
import { createGate } from '../../waiting.js';
import { type AdapterTrialCase, aDelivery, aRequest, mustAnswer } from '../trial.js';

export const connections: readonly AdapterTrialCase[] = [
  {
    name: 'no work runs for an upload that breaks off, and the app continues to receive',
    rules: ['A6'],
    skip: ({ without }) => without?.pieces,
    async run(trial) {
      const app = await trial.start();
      const { method, headers, body } = aRequest();
      app.begin({ method, headers, body: [body.subarray(0, 20), body.subarray(20, 40)], broken: true });
      const { error } = await app.decided('rejected');
      must(error.code === 'body_incomplete', 'the observer must receive the reason', error.code);
      await mustAnswer(app, { method, headers, body }, '200', 'the next attempt must be accepted');
      must(app.worked.length === 1, 'the work must be done once', app.worked.length);
    },
  },
  {
    name: 'the work of a handler whose sender has left is finished and recorded',
    rules: ['A6', 'A8'],
    appliesTo: ({ form }) => form === 'handler',
    skip: ({ without }) => without?.hangUp,
    async run(trial) {
      const gate = createGate();
      const app = await trial.start({
        async work() {
          await gate.opened;
          return 200;
        },
      });
      const delivery = aDelivery();
      const sending = app.begin(aRequest(delivery));
      await app.working(1);
      sending.hangUp();
      gate.open();
      await app.decided('handled');
      const { status, headers } = await app.send(aRequest(delivery.again()));
      must(status === 200 && headers['idempotency-replayed'] === 'true', 'the retry must be a duplicate', status);
    },
  },
];
