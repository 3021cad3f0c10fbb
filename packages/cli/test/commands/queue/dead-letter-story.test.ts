import { PermanentError } from 'service-webhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { useCli } from '../../support/cli.js';
import { everyEngine } from './every-engine.js';
import { queueServers } from './queue-servers.js';

const cli = useCli();
const servers = await queueServers();

describe.each(everyEngine(cli, servers, `story-${process.pid}`))('the dead letters of $name', (engine) => {
  const queue = (...words: string[]) => cli.run(['queue', ...words], { env: engine.env });

  /** Puts deliveries, whose handler fails with what `reasonOf` returns, until it returns undefined. */
  async function failing(eventIds: string[], reasonOf: (id: string) => string | undefined) {
    const fixture = await engine.open();
    onTestFinished(() => fixture.close());
    await fixture.queue.init?.();
    const failure = { reasonOf };
    const handler = ({ id }: { id: string }) => {
      const reason = failure.reasonOf(id);
      if (reason !== undefined) throw new PermanentError(reason, { cause: new TypeError('of the clip') });
    };
    fixture.work({ on: { '*': handler }, logger: false });
    for (const eventId of eventIds) await fixture.queue.put(aQueued({ eventId }));
    const isDead = async () => (await fixture.queue.stats()).dead === eventIds.length;
    await vi.waitUntil(isDead, PATIENTLY);
    expect(await queue('use', ...engine.place)).toMatchObject({ exitCode: 0, stderr: '' });
    return failure;
  }

  it('letters are listed by reason, the cause is removed, retry --wait says what became of each, and nothing is left', async () => {
    const failure = await failing(['evt_a', 'evt_b', 'evt_c'], (id) =>
      id === 'evt_c' ? 'no such clip' : `connect ECONNREFUSED 127.0.0.${id === 'evt_a' ? 1 : 2}:5432`,
    );

    const { stdout: listed } = await queue('list', '--text');
    expect(listed).toMatch(/^2 × {2}.*connect ECONNREFUSED …:5432/m);
    expect(listed).toMatch(/^1 × {2}.*no such clip/m);
    expect(listed).toMatch(/^3 dead letters, 2 reasons\./m);
    const [stats] = (await queue('stats')).records;
    expect(stats).toMatchObject({ depth: 0, oldestMs: 0, dead: 3, reasons: [{ count: 2 }, { count: 1 }] });

    const short = /^ +(\S+) .*evt_c/m.exec(listed)?.[1] ?? '';
    const [shown] = (await queue('show', short)).records;
    expect(shown).toMatchObject({ eventId: 'evt_c', reason: expect.stringContaining('no such clip') });
    expect(String(shown?.['stack'])).toMatch(/no such clip.* at .*dead-letter-story.*TypeError: of the clip/s);

    failure.reasonOf = (id) => (id === 'evt_c' ? 'still no such clip' : undefined);
    const retried = await queue('retry', '--all', '--wait', '50s');
    const kinds = retried.records.map(({ kind, eventId = '', reason = '' }) => `${kind} ${eventId} ${reason}`.trim());
    expect(kinds.toSorted()).toEqual([
      expect.stringMatching(/^dead_again evt_c .*still no such clip/),
      'handled evt_a',
      'handled evt_b',
      'result',
      'retried evt_a',
      'retried evt_b',
      'retried evt_c',
    ]);
    expect(retried.records.at(-1)).toMatchObject({ kind: 'result', retried: 3, handled: 2, deadAgain: 1, pending: 0 });
    expect(retried.exitCode).toBe(1);

    failure.reasonOf = () => undefined;
    const last = await queue('retry', '--reason', 'still', '--wait', '50s', '--text');
    expect(last.stdout).toMatch(/^1 dead letter retried: 1 handled, 0 dead again, 0 not ended\.\n/m);
    expect(last.exitCode).toBe(0);
    expect(await queue('list', '--text')).toMatchObject({ stdout: '', stderr: 'There is no dead letter.\n' });
    expect((await queue('stats')).records).toMatchObject([{ depth: 0, dead: 0, reasons: [] }]);
  });
});
