import { describe, expect, it } from 'vitest';
import {
  acknowledged,
  acknowledgedLast,
  answered,
  duplicateByKey,
  duplicates,
  eachHandled,
  handledOnce,
  legacyRefused,
  refused,
} from '../../../src/commands/doctor/judge.js';
import type { SendResult } from '../../../src/http/deliver.js';

const answer = (status: number, { body = '', ms = 1 } = {}): SendResult => ({ status, body, headers: {}, ms });
const replayed = (status = 200): SendResult => ({
  status,
  body: '',
  headers: { 'idempotency-replayed': 'true' },
  ms: 1,
});
const none: SendResult = { problem: 'no answer within 20 s', ms: 20_000 };
const ok = answer(200);
const passed = (evidence: string) => ({ verdict: 'passed', evidence });
const failed = (evidence: string) => ({ verdict: 'failed', evidence });

describe('the evidence of a finding', () => {
  it('the evidence of a finding is every status that came, once, and the slowest time', () => {
    expect(acknowledged([answer(200, { ms: 3 }), answer(202, { ms: 8 }), answer(200, { ms: 5 })])).toEqual(
      passed('200, 202 in 8 ms'),
    );
  });

  it('the evidence of a finding is the code of a refusal, or what it says, in short', () => {
    const error = JSON.stringify({ error: { code: 'invalid_signature' } });
    expect(acknowledged([ok, answer(401, { body: error })])).toEqual(failed('answered 401 invalid_signature'));
    expect(acknowledged([answer(500, { body: '  oh no\n' })])).toEqual(failed('answered 500 oh no'));
    expect(acknowledged([answer(500, { body: 'x'.repeat(81) })])).toEqual(failed(`answered 500 ${'x'.repeat(80)}…`));
    expect(acknowledged([answer(500)])).toEqual(failed('answered 500'));
  });

  it('the evidence of a finding is why nothing was answered', () => {
    expect(acknowledged([none])).toEqual(failed('no answer within 20 s'));
  });
});

describe('to be refused', () => {
  it.each([400, 401, 499])('to be refused is to be answered %i', (status) => {
    expect(refused([answer(status)])).toEqual(passed(`${status} in 1 ms`));
  });

  it.each([399, 500])('to be refused is not to be answered %i', (status) => {
    expect(refused([answer(401), answer(status)])).toEqual(failed(`answered ${status}: to refuse is to answer 4xx`));
  });

  it('to be refused is not to be accepted, even if only once', () => {
    expect(refused([answer(500), ok])).toEqual(failed('answered 200: it was accepted'));
  });

  it('to be refused is not to be left without an answer', () => {
    expect(refused([answer(401), none])).toEqual(failed('no answer within 20 s'));
  });
});

describe('to be answered at all', () => {
  it.each([200, 400, 499])('to be answered at all is to be answered %i', (status) => {
    expect(answered([answer(status)])).toEqual(passed(`${status} in 1 ms`));
  });

  it('to be answered at all is not to break down', () => {
    expect(answered([ok, answer(500)])).toEqual(failed('answered 500'));
    expect(answered([none])).toEqual(failed('no answer within 20 s'));
  });
});

describe('to be acknowledged in the end', () => {
  it('depends on the last answer alone', () => {
    expect(acknowledgedLast([ok, none, answer(204)])).toEqual(passed('204 in 1 ms'));
    expect(acknowledgedLast([ok, answer(500)])).toEqual(failed('answered 500'));
  });
});

describe('a delivery that came twice', () => {
  it('a delivery that came twice is handled first and then taken for a duplicate', () => {
    expect(duplicates([ok, replayed()])).toEqual(passed('200 in 1 ms'));
  });

  it('a delivery that came twice has to be acknowledged both times', () => {
    expect(duplicates([ok, answer(409)])).toEqual(
      failed('answered 409 to a delivery that came twice: the service would go on trying'),
    );
  });

  it('a delivery that came twice is no duplicate the first time', () => {
    expect(duplicates([replayed(), replayed()])).toEqual(failed('the first was taken for a duplicate'));
  });

  it('a delivery that came twice may have been handled again where no answer says', () => {
    expect(duplicates([ok, replayed(), ok])).toEqual({
      verdict: 'unknown',
      evidence: 'acknowledged, but the answer does not say whether it was handled again',
    });
  });
});

describe('a delivery that came several times at once', () => {
  it.each([
    ['duplicates of it', [replayed(), ok, replayed()], '200 in 1 ms'],
    ['told to come again', [answer(409), ok, answer(503)], '409, 200, 503 in 1 ms'],
  ])('a delivery that came several times at once is handled once, and the others are %s', (_, answers, evidence) => {
    expect(handledOnce(answers)).toEqual(passed(evidence));
  });

  it.each([answer(500), answer(401)])(
    'a delivery that came several times at once is not to be answered otherwise',
    (bad) => {
      expect(handledOnce([ok, bad])).toEqual(failed(`answered ${bad.status}`));
    },
  );

  it('a delivery that came several times at once is lost where none is handled', () => {
    expect(handledOnce([answer(409), replayed()])).toEqual(failed('none of them was acknowledged'));
  });

  it('a delivery that came several times at once may have been handled several times where no answer says', () => {
    expect(handledOnce([ok, ok, replayed()])).toEqual({
      verdict: 'unknown',
      evidence: '2 were acknowledged, and the answers do not say which was handled',
    });
  });
});

describe('events that are not the same', () => {
  it('events that are not the same are acknowledged, each as its own', () => {
    expect(eachHandled([ok, answer(202)])).toEqual(passed('200, 202 in 1 ms'));
    expect(eachHandled([ok, answer(500)])).toEqual(failed('answered 500'));
  });

  it('events that are not the same are none of them taken for a duplicate', () => {
    const lost = failed('an event that never came before was taken for a duplicate, and is lost');
    expect(eachHandled([replayed(), ok])).toEqual(lost);
  });

  it('events that are not the same are a reason for a warning where the second is taken for a duplicate of the first', () => {
    expect(eachHandled([ok, replayed()])).toMatchObject({ verdict: 'warned' });
  });
});

describe('an event under another Idempotency-Key', () => {
  it('an event under another Idempotency-Key is a reason for a warning where it is handled again and a second attempt is not', () => {
    expect(duplicateByKey([ok, replayed(), ok])).toMatchObject({ verdict: 'warned' });
  });

  it('an event under another Idempotency-Key is a duplicate like any other where the key makes no difference', () => {
    expect(duplicateByKey([ok, replayed(), replayed()])).toEqual(passed('200 in 1 ms'));
    expect(duplicateByKey([ok, ok, ok])).toMatchObject({ verdict: 'unknown' });
    expect(duplicateByKey([ok, replayed(), answer(500)])).toMatchObject({ verdict: 'failed' });
  });
});

describe('a legacy signature', () => {
  it('a legacy signature is a reason for a warning where it is accepted, and is judged as any refusal otherwise', () => {
    expect(legacyRefused([ok])).toMatchObject({ verdict: 'warned' });
    expect(legacyRefused([answer(401)])).toEqual(passed('401 in 1 ms'));
    expect(legacyRefused([answer(500)])).toMatchObject({ verdict: 'failed' });
  });

  it('a legacy signature are not lost where it is a refusal that says so', () => {
    expect(eachHandled([replayed(500)])).toEqual(failed('answered 500'));
    expect(eachHandled([none])).toEqual(failed('no answer within 20 s'));
  });
});
