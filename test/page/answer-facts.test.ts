import { describe, expect, it } from 'vitest';
import { answerFacts, isRecognised } from '../../src/page/answer-facts.js';

const URL = 'http://127.0.0.1:3000/hook';
const answer = (status: number, body: string, headers = {}) => ({ status, headers, body });

describe('what an answer says', () => {
  it('what an answer of this library says is its code, what happened and what to do', () => {
    const body = '{"error":{"code":"signature_mismatch","message":"x"}}';
    expect(answerFacts(answer(401, body), URL)).toEqual({
      code: 'signature_mismatch',
      advice: {
        code: 'signature_mismatch',
        message: expect.stringContaining('The signature does not match'),
        hint: expect.stringContaining('raw body'),
      },
    });
    expect(answerFacts(answer(200, '{"outcome":"handled"}'), URL)).toEqual({ code: 'handled', advice: undefined });
  });

  it.each([
    [404, 'The app has no route for POST /hook.'],
    [302, 'The app redirects, and the service follows no redirect.'],
    [500, 'The app failed.'],
  ])('what an answer of %i says without a code is known by its status', (status, message) => {
    expect(answerFacts(answer(status, '<h1>'), URL)).toMatchObject({ code: undefined, advice: { message } });
  });

  it('what an answer says is nothing where there is none', () => {
    expect(answerFacts(undefined, URL)).toEqual({});
    expect(answerFacts(answer(500, ''), 'no URL')).toEqual({ code: undefined, advice: undefined });
    for (const body of ['null', '{"outcome":7}', '[]'])
      expect(answerFacts(answer(200, body), URL).code).toBeUndefined();
  });

  it('what an answer says may be that the event is known already', () => {
    expect(isRecognised(answer(200, '', { 'idempotency-replayed': 'true' }))).toEqual({ recognised: true });
    expect(isRecognised(answer(200, '', { 'idempotency-replayed': 'no' }))).toEqual({});
    expect(isRecognised(undefined)).toEqual({});
  });
});
