import { describe, expect, it } from 'vitest';
import type { Sent } from '../../src/cli/deliver.js';
import { errorCode, exitCodeOf, isAcknowledged, sentFields, sentPieces } from '../../src/cli/sent.js';

const answer = (status: number, body = '', headers: Record<string, string> = {}): Sent => ({
  ...{ status, body, headers, ms: 7 },
});
const none: Sent = { problem: 'nothing listens there', ms: 9 };
const refusal = JSON.stringify({ error: { code: 'invalid_signature' } });

describe('what came of a request', () => {
  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('is acknowledged by %i: %s', (status, acknowledged) => {
    expect(isAcknowledged(answer(status))).toBe(acknowledged);
  });

  it('is not acknowledged without an answer', () => {
    expect(isAcknowledged(none)).toBe(false);
  });

  it('is a record, with the code of the answer and its beginning', () => {
    expect(sentFields(answer(401, refusal))).toEqual({
      ...{ status: 401, acknowledged: false, ms: 7, code: 'invalid_signature', answer: refusal },
    });
    expect(sentFields(answer(200, 'x'.repeat(2_001)))).toEqual({
      ...{ status: 200, acknowledged: true, ms: 7, code: undefined, answer: `${'x'.repeat(2_000)}…` },
    });
    expect(sentFields(none)).toEqual({
      ...{ status: null, acknowledged: false, ms: 9, problem: 'nothing listens there' },
    });
  });

  it('is a line: what was answered, and why it is not enough', () => {
    expect(sentPieces(none)).toEqual([['bad', 'no answer'], 'nothing listens there', ['faint', '9 ms']]);
    expect(sentPieces(answer(204))).toEqual([['good', 204], 'acknowledged', ['faint', '7 ms']]);
    const bad = [['bad', 401], 'not acknowledged', ['faint', '7 ms']];
    expect(sentPieces(answer(401, refusal))).toEqual([...bad, 'invalid_signature', undefined]);
    expect(sentPieces(answer(401, 'x'.repeat(201)))).toEqual([...bad, `${'x'.repeat(200)}…`, undefined]);
  });

  it('says where a redirect leads', () => {
    expect(sentPieces(answer(301, '', { location: '/there' })).at(-1)).toBe(
      'Redirects are not followed: send to /there.',
    );
  });

  it.each([
    ['all are acknowledged', [answer(200), answer(202)], 0],
    ['one is refused', [answer(200), answer(500)], 1],
    ['one is not answered, another one is', [none, answer(200)], 1],
    ['nothing is answered', [none, none], 4],
  ])('is an exit code where %s', (_, all, exitCode) => {
    expect(exitCodeOf(all)).toBe(exitCode);
  });

  it.each([
    [refusal, 'invalid_signature'],
    ['{"error":{"code":1}}', undefined],
    ['{"error":"no"}', undefined],
    ['{}', undefined],
    ['not JSON', undefined],
  ])('has the code of the service’s error object: %s', (body, code) => {
    expect(errorCode(body)).toBe(code);
  });
});
