import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PermanentError } from 'service-webhooks';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { useCli } from '../../support/cli.js';
import { everyEngine } from '../queue/every-engine.js';
import { queueServers } from '../queue/queue-servers.js';
import { anEventWith } from './learned.js';

const cli = useCli();
const engines = everyEngine(cli, await queueServers(), `types-${process.pid}`);

const queued = (data: unknown) => ({
  ...aQueued(),
  body: Buffer.from(JSON.stringify(anEventWith(data))).toString('base64'),
});

describe.each(engines)('the dead letters of $name', ({ name, env, place, open }) => {
  it('their types are learned, and the letters stay in the queue', async () => {
    const { queue, work, close } = await open();
    onTestFinished(close);
    await queue.init?.();
    work({ on: { '*': () => Promise.reject(new PermanentError('no clip')) }, logger: false });
    await queue.put(queued({ text: 'x' }));
    await queue.put(queued({ text: 'x', language: 'en' }));
    await vi.waitUntil(async () => (await queue.deadLetters()).length === 2, PATIENTLY);

    const { exitCode, stderr, records } = await cli.run(['types', ...place], { env });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(records).toMatchObject([{ types: [{ type: 'stt.completed', deliveries: 2 }], withoutEvent: 0 }]);
    expect(String(records[0]?.['text'])).toContain('language?: string;\n      text: string;\n');
    expect(await queue.deadLetters()).toHaveLength(2);
    if (name !== 'sqlite') return;

    const config = { queue: { engine: 'sqlite', at: 'webhooks.db' } };
    writeFileSync(join(cli.cwd, 'service-webhooks.json'), JSON.stringify(config));
    const named = await cli.run(['types', '--queue', `types-${process.pid}`]);
    expect(named.records).toMatchObject([{ types: [{ deliveries: 2 }] }]);
    expect(await cli.run(['types'])).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('.webhooks') });
  });
});
