import { must } from '../../define-suite.js';
import { type AdapterTrialCase, aDelivery, aRequest, mustAnswer, triesOnce } from '../trial.js';

export const routes: readonly AdapterTrialCase[] = [
  {
    name: 'the route receives the verified delivery',
    rules: ['A7'],
    appliesTo: ({ form }) => form === 'middleware',
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery({ webhookId: 'endpoint_7', attempt: 3 });
      await app.send(aRequest(delivery));
      const [got, ...more] = app.worked;
      must(got !== undefined && more.length === 0, 'the route must run once', app.worked.length);
      must(
        got.event.id === JSON.parse(new TextDecoder().decode(delivery.body)).id,
        'event must be the one sent',
        got.event,
      );
      must(
        got.scheme === 'v2' && got.secretIndex === 0,
        'scheme and secretIndex must be those of the valid signature',
        got.scheme,
      );
      must(got.signedAt === Math.floor(delivery.at / 1000) * 1000, 'signedAt must be the signed time', got.signedAt);
      must(
        got.unsigned.webhookId === 'endpoint_7' && got.unsigned.attempt === 3,
        'unsigned must be there',
        got.unsigned,
      );
    },
  },
  {
    name: 'an event whose route answers other than 2xx is released, and that answer is unchanged',
    rules: ['A8'],
    appliesTo: ({ form }) => form === 'middleware',
    async run(trial) {
      for (const status of [404, 422, 500, 503]) {
        const statuses = [status, 200];
        const app = await trial.start({ work: () => statuses.shift() ?? 200 });
        const delivery = aDelivery();
        const first = await app.send(aRequest(delivery));
        must(first.status === status, `the ${status} must be answered`, first.status);
        const { error } = await app.decided('failed');
        must(error.code === 'handler_failed', 'the observer must receive the error', error.code);
        await mustAnswer(app, aRequest(delivery.again()), '200', 'the next attempt must be accepted');
        must(app.worked.length === 2, 'and the route run again', app.worked.length);
      }
    },
  },
  {
    name: 'an event whose route answers any 2xx is completed',
    rules: ['A8'],
    appliesTo: ({ form }) => form === 'middleware',
    async run(trial) {
      for (const status of [200, 201, 202, 204]) {
        const app = await trial.start({ work: () => status });
        const delivery = aDelivery();
        const first = await app.send(aRequest(delivery));
        must(first.status === status, `the ${status} must be answered`, first.status);
        await app.decided('handled');
        const { headers } = await app.send(aRequest(delivery.again()));
        must(headers['idempotency-replayed'] === 'true', 'the next attempt must be a duplicate', headers);
        must(app.worked.length === 1, 'the route must run once', app.worked.length);
      }
    },
  },
  {
    name: 'a PermanentError of the route ends the event',
    rules: ['A8'],
    appliesTo: ({ form }) => form === 'middleware',
    skip: ({ without }) => without?.throws,
    run: triesOnce,
  },
];
