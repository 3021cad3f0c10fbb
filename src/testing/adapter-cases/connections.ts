import { must } from '../must.js';
import { aDelivery, aRequest, createGate, inShort, type Started, type TrialCase } from './trial.js';

export const connections: readonly TrialCase[] = [
  {
    name: 'no work runs for an upload that breaks off, and the app continues to receive',
    rules: ['A6'],
    needs: 'pieces',
    async run(trial) {
      const app = await trial.start();
      const { method, headers, body } = aRequest();
      app.begin({ method, headers, body: [body.subarray(0, 20), body.subarray(20, 40)], broken: true });
      const { error } = await app.decided('rejected');
      must(error.code === 'body_incomplete', 'the observer must be told what happened', error.code);
      const answer = await app.send({ method, headers, body });
      must(answer.status === 200, 'the next attempt must be taken', inShort(answer));
      must(app.worked.length === 1, 'the work must be done once', app.worked.length);
    },
  },
  {
    name: 'the work of a handler whose sender has left is finished and recorded',
    rules: ['A6', 'A8'],
    form: 'handler',
    needs: 'hangUp',
    async run(trial) {
      const { app, delivery, open } = await leaveDuringWork(trial);
      open();
      await app.decided('handled');
      const { status, headers } = await app.send(aRequest(delivery.again()));
      must(status === 200 && headers['idempotency-replayed'] === 'true', 'the retry must be a duplicate', status);
    },
  },
];

/** Starts a delivery whose sender disconnects while the first work runs. `left`: the framework has told the route. */
async function leaveDuringWork({ start }: Parameters<TrialCase['run']>[0]): Promise<{
  app: Started;
  delivery: ReturnType<typeof aDelivery>;
  open(): void;
  left: Promise<void>;
}> {
  const gate = createGate();
  const left = createGate();
  const app = await start({
    async work(_, signal) {
      signal?.addEventListener('abort', left.open);
      if (signal?.aborted) left.open();
      await gate.opened;
      return 200;
    },
  });
  const delivery = aDelivery();
  const sending = app.begin(aRequest(delivery));
  await app.working(1);
  sending.hangUp();
  return { app, delivery, open: gate.open, left: left.opened };
}
