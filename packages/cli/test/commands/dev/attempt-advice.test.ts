import type { IncomingMessage, RequestListener } from 'node:http';
import { webhookHandler } from 'service-webhooks/node';
import { createEmulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveListener } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { createAttemptAdvice } from '../../../src/commands/dev/attempt-advice.js';
import { emulatorSource } from '../../../src/page/emulator/emulator-source.js';

const receiver = (options: object = {}): RequestListener =>
  webhookHandler({ secret: SECRET, logger: false, on: { '*': () => {} }, ...options });

/** An emulator that delivers one event to an app, as `dev` does, and the page of it. */
async function delivered(
  appOf: (emulator: ReturnType<typeof createEmulator>) => RequestListener,
  { clock = 'real', ...options }: EmulatorOptions = {},
) {
  const emulator = createEmulator({ clock, seed: '42', allowLoopback: true, ...options });
  onTestFinished(() => emulator.close());
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let count = 0;
  let answer = appOf(emulator);
  const { url } = await serveListener((req, res) => {
    count += 1;
    answer(req, res);
  });
  emulator.endpoints.create({ url: `${url}/webhooks`, signingSecret: SECRET });
  const secretOf = () => SECRET;
  const adviceOn = createAttemptAdvice({ secretOf, headerPrefix: 'x-service', signal: stop.signal });
  const source = emulatorSource({ emulator, clock, secretOf, adviceOn });
  const { deliveries } = await emulator.emit('stt.completed');
  const { id = '' } = deliveries[0] ?? {};
  await emulator.settled();
  return {
    source,
    id,
    emulator,
    /** How many requests the app has received. */
    got: () => count,
    /** The app answers in another way from now on. */
    replaceApp(listener: RequestListener) {
      answer = listener;
    },
    /** What the page shows of the attempts, in their order. */
    attempts: () => Promise.all((source.delivery(id)?.attempts ?? []).map((row) => source.attempt(row.id))),
  };
}

describe('the advice on an attempt of dev', () => {
  it('a valid delivery that the app refuses has the advice on the page', async () => {
    const { attempts } = await delivered(() => receiver({ secret: 'another secret' }));
    expect(await attempts()).toMatchObject([
      { status: 401, verdict: { verdict: 'accepted' }, advice: { cause: 'other_secret' } },
    ]);
  });

  it.each<[string, EmulatorOptions['faults'], string]>([
    ['drop', { drop: 1 }, 'the request was lost'],
    ['delay', { delay: { rate: 1, ms: 60_000 } }, 'the answer came too late'],
    ['reset', { reset: 1 }, 'connection reset'],
  ])('the fault %s is the reason that no answer counts, and not the app', async (_, faults, problem) => {
    const { attempts, emulator } = await delivered(() => receiver(), { clock: 'virtual', faults });
    await emulator.advance(20_000);
    expect((await attempts())[0]?.advice).toEqual({
      cause: 'no_answer',
      message: expect.stringMatching(`^127.0.0.1:\\d+: ${problem}\\.$`),
      fix: 'The app is not the cause, but a fault that dev makes on purpose.',
    });
  });

  it('an app that closes the connection is the cause also where there are faults', async () => {
    const faults = { duplicate: 1 };
    const { attempts } = await delivered(() => (req) => req.socket.destroy(), { clock: 'virtual', faults });
    expect((await attempts())[0]?.advice).toMatchObject({
      message: expect.stringMatching(/the connection was closed without an answer\.$/),
      fix: 'Look into the log of the app.',
    });
  });

  it('an attempt that the app acknowledges has no advice', async () => {
    const { attempts, got } = await delivered(() => receiver());
    const [attempt] = await attempts();
    expect(attempt).toMatchObject({ acknowledged: true });
    expect([attempt?.advice, got()]).toEqual([undefined, 1]);
  });

  it('an attempt with the fault corrupt is correctly refused, and no further request is sent', async () => {
    const { attempts, got } = await delivered(() => receiver(), { faults: { corrupt: 1 } });
    expect(await attempts()).toMatchObject([
      { faults: ['corrupt'], status: 401, advice: { cause: 'correctly_refused' } },
    ]);
    expect(got()).toBe(1);
  });

  it.each<[string, (now: () => number) => RequestListener, string]>([
    ['an error code', (now) => receiver({ now }), 'correctly_refused'],
    [
      'a status alone',
      (now) => {
        const receive = receiver({ now });
        return (req, res) => (isOld(req, now()) ? void res.writeHead(401).end() : receive(req, res));
      },
      'correctly_refused',
    ],
  ])(
    'the exact replay of an old delivery, which the app refuses with %s, is not called a wrong clock',
    async (_, app, cause) => {
      const startAt = Date.now() - 600_000;
      const made = await delivered(({ now }) => app(now), { clock: 'virtual', startAt });
      await made.emulator.advance(600_000);
      await made.source.actions.replay?.({ delivery: made.id, exact: true });
      const [first, replay] = await made.attempts();
      expect(first).toMatchObject({ acknowledged: true });
      expect(replay).toMatchObject({
        ...{ kind: 'replay', status: 401, verdict: { verdict: 'timestamp_too_old' }, advice: { cause } },
      });
      expect(made.got()).toBe(2);
    },
  );

  it('a later repair of the app does not change the advice on an earlier attempt', async () => {
    const { emulator, attempts, got, replaceApp } = await delivered(() => receiver({ secret: 'another secret' }));
    const [before] = await attempts();
    replaceApp(receiver());
    await emulator.advance(30_000);
    await emulator.settled();
    const requests = got();
    const [first, second] = await attempts();
    expect(first?.advice).toEqual(before?.advice);
    expect(first?.advice?.cause).toBe('other_secret');
    expect(second).toMatchObject({ acknowledged: true, number: 2 });
    expect([second?.advice, got()]).toEqual([undefined, requests]);
  });

  it('an attempt that is read several times is compared with one further request', async () => {
    const { attempts, got } = await delivered(() => receiver({ secret: 'another secret' }));
    const [one, other] = await Promise.all([attempts(), attempts()]);
    expect(other).toEqual(one);
    await attempts();
    expect(got()).toBe(2);
  });
});

function isOld({ headers }: IncomingMessage, now: number): boolean {
  const [, seconds] = /^t=(\d+)/.exec(String(headers['x-service-signature-v2'])) ?? [];
  return now - Number(seconds) * 1_000 > 300_000;
}
