import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { useCli } from '../../support/cli.js';
import { failed } from '../support.js';
import { runDev } from './run-dev.js';

const cli = useCli();

const dev = (...args: string[]) => runDev(cli, args);

describe('send --dev', () => {
  it('the running dev delivers the event, with its retries', async () => {
    const app = await serveApp((_, __, res) => res.writeHead(app.got.length < 3 ? 500 : 200).end());
    const { url, next } = await dev(app.url, '--speed', '2000x');
    const set = ['--set', 'id=evt_own', '--set', 'data.reason=noise'];
    expect(await cli.run(['send', 'stt.failed', `--dev=${url}`, ...set])).toMatchObject({
      exitCode: 0,
      records: [{ kind: 'emitted', type: 'stt.failed', id: 'evt_own', deliveries: [expect.any(String)] }],
    });
    for (const attempt of [1, 2, 3]) expect(await next('attempt')).toMatchObject({ attempt, eventId: 'evt_own' });
    const bodies = app.got.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies).toMatchObject(Array(3).fill({ id: 'evt_own', type: 'stt.failed', data: { reason: 'noise' } }));
  });

  it('--body reads the event from a file', async () => {
    const app = await serveApp();
    const { url, next } = await dev(app.url);
    const event = { type: 'dubbing.completed', id: 'evt_file', jobId: 'dub_1', data: { language: 'de' } };
    writeFileSync(join(cli.cwd, 'event.json'), JSON.stringify(event));
    expect((await cli.run(['send', '--body', 'event.json', `--dev=${url}`])).exitCode).toBe(0);
    await next('attempt');
    expect(JSON.parse(app.got[0]?.body.toString() ?? '')).toMatchObject(event);
  });

  it('an event that no endpoint has subscribed to exits with 1', async () => {
    const { url } = await dev();
    const { exitCode, stdout } = await cli.run(['send', 'stt.failed', `--dev=${url}`, '--text']);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('no endpoint has subscribed to it')]);
  });

  it.each([
    [['stt.failed', '3000', '--dev'], 2, 'leave the URL out with --dev'],
    [['stt.failed', '--dev', '--fault', 'stale', '--count', '2'], 2, 'leave --fault, --count out with --dev'],
    [['--body', 'list.json', '--dev'], 3, 'list.json: no event'],
    [['stt.failed', '--dev=1'], 4, 'Is dev running there?'],
  ])('the command send %j exits with %i', async (args, exitCode, says) => {
    writeFileSync(join(cli.cwd, 'list.json'), '[]');
    expect(await cli.run(['send', ...args])).toMatchObject(failed(exitCode, says));
  });

  it('the URL of another server is refused as no dev', async () => {
    const app = await serveApp();
    const sent = await cli.run(['send', 'stt.failed', `--dev=${app.url}`]);
    expect(sent).toMatchObject(failed(4, 'is no dev of this version'));
  });

  it('dev answers 401 without the API key, so that no web page can send events', async () => {
    const app = await serveApp();
    const { url } = await dev(app.url);
    const post = (init: RequestInit) =>
      fetch(`${url}/dev/events`, { method: 'POST', body: '{"type":"stt.failed"}', ...init });
    expect((await post({})).status).toBe(401);
    expect((await post({ headers: { 'x-api-key': 'acct_other' } })).status).toBe(401);
    const key = { 'x-api-key': 'acct_development' };
    expect((await post({ headers: key, method: 'PUT' })).status).toBe(405);
    for (const body of ['{', '[]', 'null', '7', '{"type":""}', '{"type":7}']) {
      expect((await post({ headers: key, body })).status, body).toBe(422);
    }
    expect(app.got).toEqual([]);
    expect((await post({ headers: key })).status).toBe(200);
  });
});

it('dev --scenario plays several scenarios one after the other', async () => {
  const app = await serveApp();
  const { next } = await dev(app.url, '--scenario', 'outage,dead,job-retried', '--speed', '20000x');
  const states: unknown[] = [];
  for (let count = 0; count < 12; count += 1) {
    const { type, attempt, state } = await next('attempt');
    if (state !== 'waiting') states.push([type, attempt, state]);
  }
  expect(states).toEqual([
    ['generation.completed', 4, 'delivered'],
    ['generation.completed', 6, 'dead'],
    ['generation.failed', 1, 'delivered'],
    ['generation.completed', 1, 'delivered'],
  ]);
});
