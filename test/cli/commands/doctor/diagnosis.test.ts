import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/cli/commands/doctor/diagnosis.js';
import type { SendResult } from '../../../../src/wire/deliver.js';

const url = new URL('http://127.0.0.1:3000/');
const answer = (status: number, code?: string, headers: Record<string, string> = {}): SendResult => ({
  ...{ status, headers, ms: 1 },
  body: code === undefined ? '' : JSON.stringify({ error: { code } }),
});

describe('the cause of a refused good delivery', () => {
  it.each<[why: string, good: SendResult, says: RegExp]>([
    ['a 404 asks about the path', answer(404), /no route for POST \/\. .*3000\/webhooks/],
    ['a redirect asks for the final URL', answer(302, undefined, { location: '/login' }), /final URL: \/login/],
    ['a 500 points at the log of the app', answer(500), /log of the app/],
    ['a failed handler points at its cause', answer(500, 'handler_failed'), /handler failed.*error\.cause/],
    ['a store that is down points at the store', answer(503, 'store_unavailable'), /store failed/],
    ['a body parser is named where the receiver names it', answer(500, 'body_already_parsed'), /parser ran first/],
    ['a missing header asks for the prefix', answer(401, 'missing_signature'), /headerPrefix/],
    ['a body that is too large asks for the limit', answer(413), /body limit/],
    ['a plain 401 asks for the secret', answer(401), /Compare the secret/],
    ['a mismatch asks for the secret', answer(401, 'signature_mismatch'), /Compare the secret/],
    ['no answer says so', { problem: 'nothing listens there', ms: 1 }, /nothing listens there/],
    ['an answer that says nothing points at the log', answer(418), /log of the endpoint/],
  ])('%s', (_, good, says) => {
    const { fix } = diagnose(good, good, url);
    expect(fix).toMatch(says);
    expect(fix).not.toContain('parser runs before');
  });

  it('a body that is parsed and written again shows where compact JSON is accepted', () => {
    const { diagnosis, fix } = diagnose(answer(401, 'signature_mismatch'), answer(200), url);
    expect([diagnosis, fix]).toEqual(['parsed_body', expect.stringContaining('Verify the raw body')]);
  });
});
