import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from 'service-webhooks';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { type Got, serveApp } from '../../../../../test/support/app.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { hasSqlite, openQueueFile, type QueueFile } from './sqlite-queue-file.js';

const cli = useCli();
let file: QueueFile;
const replay = (...words: string[]) => cli.run(['queue', 'replay', ...words, '--sqlite', 'webhooks.db', '--json']);

describe.runIf(hasSqlite)('the command queue replay', () => {
  beforeEach(() => {
    file = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'));
    onTestFinished(() => file.handle.close());
  });

  it('the letter is signed again with the secret of --secret, and keeps its headers', async () => {
    const unsigned = { idempotencyKey: 'key_1', webhookId: 'wh_1', attempt: 3 };
    await file.bury('no clip', { ...aQueued({ eventId: 'evt_a' }), unsigned });
    writeFileSync(join(cli.cwd, 'other.txt'), 'another secret\n');
    const app = await serveApp();
    const { exitCode, records } = await replay('evt_a', `${app.url}/hook`, '--secret', 'file:other.txt');
    expect(exitCode).toBe(0);
    expect(records).toMatchObject([
      { kind: 'replayed', letter: '1', exact: false, url: `${app.url}/hook`, status: 200 },
    ]);
    const [got] = app.got as [Got];
    const delivery = verify({ headers: got.headers, body: got.body, secret: 'another secret' }); // the clock of now
    expect(delivery.event.id).toBe('evt_a');
    expect(delivery.unsigned).toEqual(unsigned);
    expect(got.headers['content-type']).toBe('application/json');
    expect(await file.queue.deadLetters()).toHaveLength(1);
  });

  it('several letters go to the port behind their ids, under --header-prefix', async () => {
    await file.bury('no clip', aQueued({ eventId: 'evt_a' }), aQueued({ eventId: 'evt_b' }));
    const app = await serveApp();
    const { records } = await replay('evt_b', '1', `${app.port}`, '--header-prefix', 'X-Vendor', '--attempt', '4');
    expect(records).toMatchObject([{ letter: '2' }, { letter: '1' }]);
    const [got] = app.got as [Got];
    const headerPrefix = 'x-vendor';
    expect(verify({ headers: got.headers, body: got.body, secret: SECRET, headerPrefix })).toMatchObject({
      event: { id: 'evt_b' },
      unsigned: { attempt: 4 },
    });
  });

  it('a value of the job that cannot be a header is left out', async () => {
    const unsigned = { idempotencyKey: 'a\r\nx-evil: 1', webhookId: { not: 'text' }, attempt: -1 } as never;
    await file.bury('no clip', { ...aQueued({ eventId: 'evt_a' }), unsigned });
    const app = await serveApp();
    expect(await replay('evt_a', app.url)).toMatchObject({ exitCode: 0 });
    for (const name of ['x-evil', 'idempotency-key', 'x-service-webhook-id'])
      expect(app.got[0]?.headers).not.toHaveProperty(name);
  });

  it('--redact replaces a field of the body, which is signed again', async () => {
    await file.bury('no clip', aQueued({ eventId: 'evt_a' }));
    const app = await serveApp();
    await replay('evt_a', app.url, '--redact', 'data.*');
    const [got] = app.got as [Got];
    const { event } = verify({ headers: got.headers, body: got.body, secret: SECRET });
    expect(Object.values(event.data)).toContain('redacted');
  });

  it.each([
    [['evt_a', '3000', '--exact'], "unknown option '--exact'"],
    [[], "missing required argument 'ids'"],
    [['evt_x', '3000'], "'evt_x' is none of the 1 dead letters"],
  ])('the arguments %j are refused: %s', async (words, says) => {
    await file.bury('no clip', aQueued({ eventId: 'evt_a' }));
    expect(await replay(...words)).toMatchObject(failed(2, says));
  });

  it('a job that this version cannot read is refused', async () => {
    await file.queue.init();
    file.handle.exec(
      "INSERT INTO webhook_queue (key, queue, state, job, queued_at, died_at) VALUES ('k', 'clips', 'dead', '{}', 1, 1)",
    );
    expect(await replay('1', '3000/hook')).toMatchObject(failed(2, 'is no delivery that this version'));
  });
});
