import { describe, expect, it, onTestFinished } from 'vitest';
import { NOW } from '../../../../../test/support/deliveries.js';
import { exchange, toBytes } from '../../../../../test/support/raw-http.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import type { Received } from '../../../src/commands/listen/received-log.js';
import { createRoutes } from '../../../src/commands/listen/routes.js';
import { serve } from '../../../src/commands/listen/serve.js';
import type { Session } from '../../../src/session.js';

/** `listen` until the test ends, with the records that it prints. */
async function served(options: Partial<ListenOptions>, received: (received: Received) => void = () => {}) {
  const records: Record<string, unknown>[] = [];
  const out = { record: (record: object) => void records.push({ ...record }), note() {} };
  const given = { checks: {}, delayMs: 0, mark: 'mark_1', now: Date.now, routes: createRoutes([]), ...options };
  const place = { host: '127.0.0.1', port: 0, received };
  const { url, stop } = await serve({ out } as unknown as Session, given as ListenOptions, place);
  onTestFinished(async () => void (await stop()));
  const post = (body: string) => fetch(url, { method: 'POST', body });
  const postTo = (host: string) =>
    exchange(Number(new URL(url).port), toBytes({ host, headers: [], body: Buffer.from('{}') }));
  return { records, post, postTo };
}

describe('listen with a fault in the handling of a request', () => {
  it('an error after the answer is printed, and the next request is answered', async () => {
    const { records, post } = await served({}, () => {
      throw new Error('the page has a fault');
    });
    expect((await post('1')).status).toBe(200);
    expect((await post('2')).status).toBe(200);
    await expect.poll(() => records.filter(({ kind }) => kind === 'problem')).toHaveLength(2);
    expect(records).toContainEqual(expect.objectContaining({ kind: 'problem', message: 'the page has a fault' }));
  });

  it('an answer that cannot be sent is replaced by 502, and the next request is answered', async () => {
    const strange = { status: 99, headers: {}, body: '' };
    const { records, post } = await served({ receiver: Object.assign(async () => strange, {}) as never });
    for (let n = 0; n < 2; n += 1) {
      const answer = await post('1');
      expect([answer.status, await answer.json()]).toEqual([502, { outcome: 'not_answered' }]);
    }
    expect(records).toContainEqual(
      expect.objectContaining({ kind: 'problem', message: expect.stringContaining('99') }),
    );
  });
});

it('listen prints requests of another site once a minute, with the number left out', async () => {
  let at = NOW;
  const { records, postTo } = await served({ now: () => at });
  for (let sent = 0; sent < 20; sent += 1) expect((await postTo('evil.example')).status).toBe(421);
  at += 59_999;
  await postTo('evil.example');
  expect(records).toEqual([expect.objectContaining({ code: 'foreign_host', at: new Date(NOW).toISOString() })]);
  at += 1;
  await postTo('other.example');
  expect(records).toHaveLength(2);
  expect(records[1]).toMatchObject({ more: 20, message: expect.stringContaining('other.example') });
});
