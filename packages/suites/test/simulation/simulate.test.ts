import { setTimeout as sleep } from 'node:timers/promises';
import { createReceiver } from 'service-webhooks';
import { type SimulationError, type SimulationOptions, simulate, type World } from 'service-webhooks-suites';
import { describe, expect, it, vi } from 'vitest';
import { APPS } from './apps.js';
import { PLANTED_BUGS } from './planted-bugs.js';

const { receiving } = APPS;
const CALM = { seeds: [1], events: 1 } satisfies SimulationOptions;

/** A receiver whose handler is given. */
const handling =
  <State>(handle: (world: World<State>) => unknown) =>
  (world: World<State>) =>
    createReceiver({
      secret: world.secret,
      dedupe: { store: world.store, name: 'clips' },
      on: world.handlers({ '*': () => handle(world) }),
    });

const thrownBy = (run: Promise<unknown>) =>
  run.then(
    () => expect.fail('it succeeded'),
    (error) => error,
  );

const failureOf = (bug: string, options: SimulationOptions = {}): Promise<SimulationError> => {
  const { app } = PLANTED_BUGS[bug] ?? expect.fail(bug);
  return thrownBy(simulate(app.receiver, { ...app.options, ...options }));
};

describe('simulate', () => {
  it('plays the same world again from the same seed, and another one from another seed', async () => {
    const stories = [];
    for (const seed of [2, 2, 3]) {
      const run = simulate(receiving.receiver, { seeds: [seed], check: () => expect.fail('the end') });
      const { story }: SimulationError = await thrownBy(run);
      stories.push(story.join('\n'));
    }
    expect(stories[1]).toBe(stories[0]);
    expect(stories[2]).not.toBe(stories[0]);
  });

  it('a failure names the seed, the rule and the event, and tells the story of the world', async () => {
    const error = await failureOf('a handler is not awaited');
    expect(error).toMatchObject({ name: 'SimulationError', rule: 'handled', seed: expect.any(Number) });
    expect(error.message).toMatch(
      /^Seed \d+ broke the rule "handled": an acknowledged event is handled, .*\.\nevent \d \(.+\) was ack/,
    );
    expect(error.message).toContain(`To play it again, with the other options: seeds: [${error.seed}]`);
    expect(error.message).toContain('The seed played the same world twice.');
    expect(error.story.join('\n')).toMatch(/the service {2}emits event 1.*\n.*store\.claim/s);
    const again = await failureOf('a handler is not awaited', { seeds: [error.seed] });
    expect(again.story).toEqual(error.story);
  });

  it('a failure says where the code of the user is not the same the second time', async () => {
    let runs = 0;
    const run = simulate(
      handling(({ call }) => {
        runs += 1;
        return call(`save ${runs}`, () => {});
      }),
      { ...CALM, check: () => expect.fail('my rule') },
    );
    const error: SimulationError = await thrownBy(run);
    expect(error.rule).toBe('yours');
    expect(error.cause).toMatchObject({ message: 'my rule' });
    expect(error.message).toMatch(/another world the second time, from line \d+ on: .* the option state/);
  });

  it('the state is created for each seed, and the check gets it with what was acknowledged', async () => {
    const seen: string[][] = [];
    await simulate<string[]>(
      handling(({ call, state }) => call('save', () => state.push('saved'))),
      {
        seeds: 3,
        state: () => [],
        check: ({ state, acknowledged, unacknowledged }) => {
          expect(acknowledged.length + unacknowledged.length).toBeGreaterThan(0);
          expect(state.length).toBeGreaterThanOrEqual(acknowledged.length);
          seen.push(state);
        },
      },
    );
    expect(new Set(seen).size).toBe(3);
  });

  it('a handler that waits for an hour takes no real time, by each kind of timer', async () => {
    const waited: number[] = [];
    await simulate(
      handling(async () => {
        const started = Date.now();
        await new Promise((resolve) => setTimeout(resolve, 1_800_000));
        await sleep(1_800_000);
        waited.push(Date.now() - started);
      }),
      { ...CALM, without: ['crash', 'pause'] },
    );
    expect(waited.length).toBeGreaterThan(0);
    for (const ms of waited) expect(ms).toBe(3_600_000);
  });

  it('the clock, the timers and the console are those of the process again, also after a failure', async () => {
    const { setTimeout: timer, setInterval: interval, Date: date, console: printer } = globalThis;
    const { log } = console;
    await simulate(receiving.receiver, CALM);
    await failureOf('an event is completed when it is claimed');
    await simulate(() => expect.fail('no receiver'), CALM).catch(() => {});
    expect(setTimeout).toBe(timer);
    expect(setInterval).toBe(interval);
    expect(Date).toBe(date);
    expect(console).toBe(printer);
    expect(console.log).toBe(log);
  });

  it('what a process prints is in the story, and not on the console', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const run = simulate(
      handling(() => console.log('saved %d', 5)),
      { ...CALM, check: () => expect.fail('my rule') },
    );
    const { story }: SimulationError = await thrownBy(run);
    expect(story.join('\n')).toContain('prints "saved 5"');
    expect(log).not.toHaveBeenCalled();
  });

  it('a process that was killed has no more effects, and the one after it starts again', async () => {
    const started: string[] = [];
    const report = await simulate(
      (world) => {
        started.push('process');
        return receiving.receiver(world);
      },
      { seeds: 20, receivers: 3 },
    );
    expect(report.kills).toBeGreaterThan(0);
    expect(started.length).toBe(20 * 3 + report.kills);
  });

  it('a world without crashes kills no process', async () => {
    const report = await simulate(receiving.receiver, { seeds: 20, without: ['crash', 'pause'] });
    expect(report).toMatchObject({ kills: 0, pauses: 0 });
  });

  it('a client that is connected has calls that take time and fail, and keeps its other members', async () => {
    const ends: string[] = [];
    await simulate(
      handling(async ({ connect }) => {
        const mailer = connect('mailer', { from: 'me', send: async (to: string) => `sent to ${to}` });
        const started = Date.now();
        const sent = await mailer.send('you').catch(({ message }) => message);
        ends.push(`${mailer.from}: ${sent}`);
        expect(Date.now() - started).toBeGreaterThan(0);
      }),
      { seeds: 50 },
    );
    expect(ends).toContain('me: sent to you');
    expect(ends).toContain('me: mailer.send: the connection broke');
  });

  it('a call that is made in the effect of another one is found, and the story says what to do', async () => {
    const error = await thrownBy(
      simulate(
        handling(({ call, database }) => call('save', () => database.transaction((tx) => tx.write('credit')))),
        { seeds: [1], without: ['crash', 'pause', 'refused call', 'lost answer'] },
      ),
    );
    expect(error).toMatchObject({ rule: 'delivered' });
    expect(error.message).toContain('was made in the effect of another call, where no process runs. Make one after');
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'a receiver in place of the function that creates it',
      () => simulate(createReceiver({ secret: 'x', on: {} }) as never),
      'simulate() takes a function that creates a receiver',
    ],
    ['a misspelt option', () => simulate(receiving.receiver, { seed: 1 } as never), "Did you mean 'seeds'?"],
    ['seeds that are no whole number', () => simulate(receiving.receiver, { seeds: 2.5 }), 'seeds must be'],
    ['no receiver', () => simulate(() => undefined as never), 'returned no receiver'],
    ['an app that is a function', () => simulate(() => (() => {}) as never), '{ listener: app }'],
    ['no seeds', () => simulate(receiving.receiver, { seeds: 0 }), 'seeds must be'],
    ['a seed that is no integer', () => simulate(receiving.receiver, { seeds: [0.5] }), 'seeds must be'],
    ['an unknown store', () => simulate(receiving.receiver, { store: 'mongo' as never }), 'store must be'],
    ['an unknown fault', () => simulate(receiving.receiver, { without: ['rain' as never] }), 'without must be'],
    [
      'a receiver with a queue and without a worker',
      () => simulate(({ secret, queue }) => createReceiver({ secret, queue })),
      'no worker runs them',
    ],
  ])('%s is refused', async (_, run, message) => {
    const error = await thrownBy(run());
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain(message);
  });

  it('fake timers of a test runner are refused, with what to do', async () => {
    vi.useFakeTimers();
    const error = await thrownBy(simulate(receiving.receiver, CALM));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain('vi.useRealTimers()');
  });

  it('an error of the function that creates the receiver reaches the caller', async () => {
    const run = simulate(() => createReceiver({ secret: '', on: {} }), CALM);
    await expect(run).rejects.toMatchObject({ code: 'invalid_secret' });
  });
});
