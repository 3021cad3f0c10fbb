import { describe, expect, it } from 'vitest';
import { announce, type Ready } from '../../../src/commands/listen/announce.js';
import type { Output } from '../../../src/output.js';

function announced(changes: Partial<Ready>) {
  const records: unknown[][] = [];
  const out = { record: (...given: unknown[]) => void records.push(given) } as unknown as Output;
  announce(out, {
    ...{ url: 'http://127.0.0.1:4747/', host: '127.0.0.1', targets: [], routes: [], directory: undefined },
    ...{ verifies: true, endpoint: undefined, page: undefined, ...changes },
  });
  expect(records).toHaveLength(1);
  const [record, ...lines] = records[0] ?? [];
  return { record, lines };
}

const BARE = [['strong', 'Listening on http://127.0.0.1:4747/'], undefined, undefined];

describe('what listen says when it is ready', () => {
  it('what listen says when it is ready is where it listens', () => {
    const { record, lines } = announced({});
    expect(record).toEqual({ kind: 'listening', url: 'http://127.0.0.1:4747/', verifies: true });
    expect(lines).toEqual([BARE]);
  });

  it('what listen says when it is ready is where deliveries go, are kept and are seen', () => {
    const { record, lines } = announced({
      ...{ targets: [new URL('http://localhost:3000')], directory: '.webhooks', page: 'http://127.0.0.1:5000/' },
    });
    expect(record).toMatchObject({
      ...{ forwardsTo: 'http://localhost:3000/', directory: '.webhooks', page: 'http://127.0.0.1:5000/' },
    });
    expect(lines).toEqual([
      [BARE[0], 'forwarding to http://localhost:3000/', 'keeping in .webhooks'],
      ['Deliveries: http://127.0.0.1:5000/'],
    ]);
  });

  it('what listen says when it is ready is which endpoint there is for a while, and not its secret', () => {
    const endpoint = { id: 'wh_1', url: 'https://a.test/', secret: 'whsec_1' };
    const { record, lines } = announced({ endpoint });
    expect(record).toMatchObject({ endpoint: { id: 'wh_1', url: 'https://a.test/' } });
    expect(JSON.stringify(record)).not.toContain('whsec_1');
    expect(lines[1]).toEqual(['A temporary endpoint sends to https://a.test/; it is deleted at the end.', 'wh_1']);
  });

  it('what listen says when it is ready is that nothing is verified', () => {
    const { record, lines } = announced({ verifies: false });
    expect(record).toMatchObject({ verifies: false });
    expect(lines[1]).toEqual([['warn', 'Nothing is verified: there is no secret in WEBHOOK_SECRET, and no --secret.']]);
  });

  it.each([
    ['127.0.0.1', false],
    ['::1', false],
    ['localhost', false],
    ['0.0.0.0', true],
    ['192.0.2.1', true],
  ])('what listen says when it is ready is whether others can reach %s: %s', (host, warned) => {
    const warning = [['warn', 'Everyone who can reach this machine can send here.']];
    expect(announced({ host }).lines).toEqual(warned ? [BARE, warning] : [BARE]);
  });
});
