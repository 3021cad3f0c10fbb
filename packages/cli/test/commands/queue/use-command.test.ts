import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aQueued } from '../../../../../test/queue/queued.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { hasSqlite, openQueueFile } from './sqlite-queue-file.js';
import { summedUp } from './summed-up.js';

const cli = useCli();
const queue = async (...words: string[]) => summedUp(await cli.run(['queue', ...words]));
const settings = () => JSON.parse(readFileSync(join(cli.cwd, 'service-webhooks.json'), 'utf8'));
const write = (config: object) => writeFileSync(join(cli.cwd, 'service-webhooks.json'), JSON.stringify(config));

async function buriedIn(name: string, eventId: string): Promise<void> {
  const file = openQueueFile(cli.cwd, join(cli.cwd, 'webhooks.db'), name);
  onTestFinished(() => file.handle.close());
  await file.bury('no clip', aQueued({ eventId, key: `${name}:${eventId}` }));
}

describe.runIf(hasSqlite)('the command queue use', () => {
  it('the commands after it need no options', async () => {
    await buriedIn('clips', 'evt_a');
    write({ path: '/hooks' });
    const used = await queue('use', '--sqlite', 'webhooks.db');
    expect(used).toMatchObject({ exitCode: 0, records: [{ kind: 'used', engine: 'sqlite', dead: 1 }] });
    expect(settings()).toEqual({
      path: '/hooks',
      queue: { engine: 'sqlite', at: 'webhooks.db', queue: 'clips' },
    });
    expect((await queue('list')).records).toMatchObject([{ eventId: 'evt_a' }]);
    expect((await queue('stats')).records).toMatchObject([{ name: 'clips', dead: 1 }]);
    expect((await queue('retry', '--all')).records).toMatchObject([{ kind: 'retried', eventId: 'evt_a' }]);
  });

  it('an option of a command wins over what was named', async () => {
    await buriedIn('clips', 'evt_a');
    await buriedIn('songs', 'evt_b');
    await queue('use', '--sqlite', 'webhooks.db', '--queue', 'clips');
    expect((await queue('list', '--queue', 'songs')).records).toMatchObject([{ eventId: 'evt_b' }]);
    expect(await queue('list', '--sqlite', 'nowhere.db')).toMatchObject(failed(3, 'nowhere.db'));
  });

  it('a queue that cannot be opened is not named', async () => {
    expect(await queue('use', '--sqlite', 'nowhere.db')).toMatchObject(failed(3, 'no such file'));
    const away = { env: { REDIS_URL: 'redis://127.0.0.1:1' } };
    expect((await cli.run(['queue', 'use', '--bullmq'], away)).exitCode).not.toBe(0);
    expect(settings).toThrow('ENOENT');
  });

  it('without options it says what is missing', async () => {
    expect(await queue('use')).toMatchObject(failed(2, "name it once with 'queue use'"));
  });

  it.each([
    [{ engine: 'sqlit', at: 'webhooks.db' }, 'queue.engine must be one of sqlite, bullmq'],
    [{ at: 'webhooks.db' }, "queue must be what 'queue use' writes"],
    [{ engine: 'sqlite', file: 'webhooks.db' }, "queue must be what 'queue use' writes"],
    ['webhooks.db', "queue must be what 'queue use' writes"],
    [null, "queue must be what 'queue use' writes"],
  ])('a wrong setting of the file is refused: %j', async (setting, says) => {
    write({ queue: setting });
    expect(await queue('list')).toMatchObject(failed(3, says));
  });
});
