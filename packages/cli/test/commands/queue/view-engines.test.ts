import { PermanentError } from 'service-webhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import type { LetterPage, QueueState } from '../../../src/page/queue-source.js';
import { useCli } from '../../support/cli.js';
import { browseQueue } from './browse-queue.js';
import { everyEngine } from './every-engine.js';
import { queueServers } from './queue-servers.js';

const cli = useCli();
const servers = await queueServers();

describe.each(everyEngine(cli, servers, `view-${process.pid}`))('queue --ui of $name', ({ env, place, open }) => {
  it('a page shows letters by their reason, retries them with the result, and discards one', async () => {
    const fixture = await open();
    onTestFinished(() => fixture.close());
    await fixture.queue.init?.();
    const reasons: Record<string, string> = { evt_a: 'no clip 1', evt_b: 'no clip 2', evt_c: 'no user' };
    let isFixed = false;
    fixture.work({
      on: {
        '*': ({ id }) => {
          if (!isFixed || id === 'evt_b') throw new PermanentError(isFixed ? 'still no clip' : (reasons[id] ?? ''));
        },
      },
      logger: false,
    });
    for (const eventId of Object.keys(reasons)) await fixture.queue.put(aQueued({ eventId }));
    await vi.waitUntil(async () => (await fixture.queue.stats()).dead === 3, PATIENTLY);

    const running = cli.start(['queue', '--ui=0', ...place], { env });
    const { page } = await running.next('serving');
    const { read, post } = browseQueue(String(page));
    const state = () => read<QueueState>('state');
    const listed = (letters: number) =>
      vi.waitUntil(async () => (await state()).listing.letters === letters, PATIENTLY);
    await listed(3);
    const { listing, stats } = await state();
    expect(stats).toMatchObject({ depth: 0, dead: 3 });
    expect(listing.groups).toMatchObject([
      { reason: 'no clip …', letters: 2 },
      { reason: 'no user', letters: 1 },
    ]);
    const clips = await read<LetterPage>(`letters?group=${listing.groups[0]?.id}`);
    expect(clips.rows.map(({ eventId }) => eventId).toSorted()).toEqual(['evt_a', 'evt_b']);
    expect(await read(`letter?handle=${clips.rows[0]?.handle}`)).toMatchObject({
      reason: expect.stringContaining('no clip'),
      body: { text: expect.stringContaining(`"id":"${clips.rows[0]?.eventId}"`) },
    });

    isFixed = true;
    expect(await post('retry', { all: true, shown: listing.digest })).toEqual({ done: 'Retrying 3 dead letters.' });
    await vi.waitUntil(async () => (await state()).operations[0]?.phase === 'ended', PATIENTLY);
    const [operation] = (await state()).operations;
    expect(operation).toMatchObject({ total: 3, changed: 3, gone: 0 });
    expect(operation?.problem).toBeUndefined();
    if (operation?.isFollowed) expect(operation).toMatchObject({ handled: 2, dead: 1, waiting: 0 });
    await vi.waitUntil(async () => (await fixture.queue.stats()).dead === 1, PATIENTLY);
    await listed(1);
    const { rows } = await read<LetterPage>('letters');
    expect(rows).toMatchObject([{ eventId: 'evt_b', reason: expect.stringContaining('still no clip') }]);

    expect(await post('discard', { letter: rows[0]?.handle })).toEqual({
      done: 'Discarding 1 dead letter.',
    });
    await vi.waitUntil(async () => (await fixture.queue.stats()).dead === 0, PATIENTLY);
    await listed(0);
    running.signal('SIGINT');
    expect(await running.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
