import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { browseQueue } from './browse-queue.js';
import { hasSqlite, openQueueFile, type QueueFile } from './sqlite-queue-file.js';

const cli = useCli();

describe.runIf(hasSqlite)('the command queue --ui', () => {
  let file: QueueFile;
  beforeEach(async () => {
    file = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    onTestFinished(() => file.handle.close());
    await file.bury('no clip', aQueued({ eventId: 'evt_a' }));
  });

  it.each([
    ['queue', '--ui=0'],
    ['queue', 'ui', '--ui=0'],
  ])('the page is served until Ctrl+C: %s %s', async (...words) => {
    const running = cli.start([...words, '--sqlite', 'webhooks.db']);
    const { page, where } = await running.next('serving');
    expect([page, where]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/), 'webhooks.db']);
    const document = await (await fetch(String(page))).text();
    expect(document).toContain('<title>Queue · webhooks.db</title>');
    expect(await browseQueue(String(page)).read('state')).toMatchObject({ engine: 'sqlite', stats: { dead: 1 } });
    running.signal('SIGINT');
    expect((await running.ended).exitCode).toBe(0);
    await expect(fetch(String(page))).rejects.toThrow();
  });

  it('the page shows the jobs of the store that the project names, too', async () => {
    const config = { jobs: { engine: 'sqlite', at: 'webhooks.db' } };
    writeFileSync(join(cli.cwd, 'service-webhooks.json'), JSON.stringify(config));
    const running = cli.start(['queue', '--ui=0', '--sqlite', 'webhooks.db']);
    const { page } = await running.next('serving');
    expect(await (await fetch(String(page))).text()).toContain('content="queue jobs"');
    const state = await (await fetch(new URL('/page/jobs/state', String(page)))).json();
    expect(state).toMatchObject({ where: 'webhooks.db', problem: expect.stringContaining('has no table of jobs') });
    running.signal('SIGINT');
    expect((await running.ended).exitCode).toBe(0);
  });

  it('a port that is in use, a queue that does not exist and a missing engine are refused', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await cli.run(['queue', `--ui=${port}`, '--sqlite', 'webhooks.db'])).toMatchObject(
      failed(4, new RegExp(`port ${port} of 127\\.0\\.0\\.1 is in use.+with --ui\\.`)),
    );
    const missing = ['queue', '--ui=0', '--sqlite', 'webhooks.db', '--queue', 'clip'];
    expect(await cli.run(missing)).toMatchObject(failed(2, "Did you mean 'clips'?"));
    expect(await cli.run(['queue', '--ui'])).toMatchObject(failed(2, 'say where the queue is'));
  });

  it('other words are commands as before', async () => {
    expect(await cli.run(['queue', 'lst'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('list') });
    expect((await cli.run(['queue', 'list', '--sqlite', 'webhooks.db', '--json'])).records).toMatchObject([
      { kind: 'job' },
      { kind: 'total' },
    ]);
  });
});
