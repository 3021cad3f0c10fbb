import { describe, expect, it } from 'vitest';
import { announce, type Ready } from '../../../src/commands/listen/announce.js';
import { printedBy } from '../support.js';

const URL_OF_LISTEN = 'http://127.0.0.1:4747/';
const READY: Ready = {
  ...{ url: URL_OF_LISTEN, host: '127.0.0.1', targets: [], routes: [], directory: undefined },
  ...{ verifies: true, endpoint: undefined, page: undefined },
};
const announced = (changes: Partial<Ready>) => printedBy((out) => announce(out, { ...READY, ...changes }));
const STRONG = ['strong', 'Listening on http://127.0.0.1:4747/'];
const BARE = [STRONG, undefined, undefined];

describe('the lines that listen prints when it is ready', () => {
  it('the address of listen is printed', () => {
    const { record, lines } = announced({});
    expect(record).toEqual({ kind: 'listening', url: URL_OF_LISTEN, verifies: true });
    expect(lines).toEqual([BARE]);
  });

  it('the app, the directory of captures and the address of the page are printed', () => {
    const places = { directory: '.webhooks', page: 'http://127.0.0.1:5000/' };
    const { record, lines } = announced({ targets: [new URL('http://localhost:3000')], ...places });
    expect(record).toMatchObject({ forwardsTo: 'http://localhost:3000/', ...places });
    expect(lines).toEqual([
      [STRONG, 'forwarding to http://localhost:3000/', 'keeping in .webhooks'],
      ['Deliveries: http://127.0.0.1:5000/'],
    ]);
  });

  it('a temporary endpoint is printed without its secret', () => {
    const endpoint = { id: 'wh_1', url: 'https://a.test/', secret: 'whsec_1' };
    const { record, lines } = announced({ endpoint });
    expect(record).toMatchObject({ endpoint: { id: 'wh_1', url: 'https://a.test/' } });
    expect(JSON.stringify(record)).not.toContain('whsec_1');
    expect(lines[1]).toEqual(['A temporary endpoint sends to https://a.test/; it is deleted at the end.', 'wh_1']);
  });

  it('without a secret, a warning says that nothing is verified', () => {
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
  ])('a warning says that others can reach listen on %s: %s', (host, warned) => {
    const warning = [['warn', 'Everyone who can reach this machine can send here.']];
    expect(announced({ host }).lines).toEqual(warned ? [BARE, warning] : [BARE]);
  });
});
