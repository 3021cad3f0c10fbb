import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { later } from '../../../../../test/support/deliveries.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { everyEngine } from './every-engine.js';
import { queueServers } from './queue-servers.js';
import { summedUp } from './summed-up.js';

const cli = useCli();
const servers = await queueServers();

const QUEUE = `states-${process.pid}`;
const STATES = ['waiting', 'running', 'done', 'dead'];
const LISTED: Readonly<Record<string, string[]>> = {
  sqlite: STATES,
  bullmq: STATES,
  'pg-boss': STATES,
  'graphile-worker': ['waiting', 'running', 'dead'],
  rabbitmq: ['dead'],
  nats: ['waiting', 'dead'],
};

const engines = everyEngine(cli, servers, QUEUE);

describe.each(engines)('queue list --state of $name', ({ name, env, place, open }) => {
  const listed = LISTED[name] ?? [];
  const list = async (state: string, ...more: string[]) =>
    summedUp(await cli.run(['queue', 'list', '--state', state, ...more, ...place, '--json'], { env }));
  const eventsThat = async (state: string, ...more: string[]) => {
    const { exitCode, stderr, records } = await list(state, ...more);
    expect([exitCode, stderr]).toEqual([0, '']);
    for (const record of records) expect(record).toMatchObject({ kind: 'job', state, at: expect.any(String) });
    return records.map(({ eventId }) => eventId);
  };

  it('jobs are listed in each state that the engine knows, and run once as before', async () => {
    const fixture = await open();
    onTestFinished(() => fixture.close());
    await fixture.queue.init?.();
    const put = async (eventId: string, more: object = {}) => fixture.queue.put(aQueued({ eventId, ...more }));
    await put('evt_a');
    await put('evt_b', { type: 'stt.failed', key: 'test:tenant=acme:evt_b', tenant: 'acme' });

    if (listed.includes('waiting')) {
      expect(await eventsThat('waiting')).toEqual(['evt_a', 'evt_b']);
      expect(await eventsThat('waiting', '--limit', '1')).toEqual(['evt_a']);
      for (const filter of ['--type=stt.failed', '--event=evt_b', '--tenant=acme'])
        expect(await eventsThat('waiting', filter)).toEqual(['evt_b']);
      expect(await eventsThat('waiting', '--since', '5m')).toEqual(['evt_a', 'evt_b']);
      expect(await eventsThat('waiting', '--since', '2999-01-01T00:00:00Z')).toEqual([]);
    }

    const { promise: gate, resolve: openGate } = later();
    const runs: unknown[] = [];
    const handler = async ({ id }: { id: string }, { attempt }: { attempt: number }) => {
      runs.push([id, attempt]);
      if (id === 'evt_a') await gate;
    };
    fixture.work({ on: { '*': handler }, logger: false });
    await vi.waitUntil(() => runs.length === 2, PATIENTLY);
    const poll = (call: () => Promise<void>) => vi.waitFor(call, PATIENTLY);
    if (listed.includes('running')) await poll(async () => expect(await eventsThat('running')).toEqual(['evt_a']));
    if (listed.includes('done')) await poll(async () => expect(await eventsThat('done')).toContain('evt_b'));
    if (listed.includes('waiting')) expect(await eventsThat('waiting')).toEqual([]);
    openGate();
    await vi.waitUntil(async () => (await fixture.queue.stats()).depth === 0, PATIENTLY);
    expect(await eventsThat('dead')).toEqual([]);
    if (listed.includes('running')) expect(await eventsThat('running')).toEqual([]);
    expect(runs.toSorted()).toEqual([
      ['evt_a', 1],
      ['evt_b', 1],
    ]);
  });

  it.each(STATES.filter((state) => !listed.includes(state)))(
    'a state that the engine cannot list is refused before it is asked: %s',
    async (state) => {
      const words = ['queue', 'list', '--state', state, `--${name}`, 'nothing-that-is-a-url'];
      const says = new RegExp(`${name} cannot list jobs that are ${state}: .*\\. Pass --state dead`);
      expect(await cli.run(words)).toMatchObject(failed(2, says));
    },
  );
});
