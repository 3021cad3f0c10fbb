import { describe, expect, it } from 'vitest';
import { duplicateByKey, duplicates, eachHandled, handledOnce } from '../../../src/commands/doctor/dedupe-judges.js';
import type { Finding, Judge } from '../../../src/commands/doctor/judge.js';
import type { SendResult } from '../../../src/http/deliver.js';

const answer = (status: number, body = ''): SendResult => ({ status, body, headers: {}, ms: 1 });
const says = (outcome: string, status = 200) => answer(status, JSON.stringify({ outcome }));
const replayed = (status = 200): SendResult => ({
  status,
  body: '',
  headers: { 'idempotency-replayed': 'true' },
  ms: 1,
});
/** A cache in front of the app that repeats the first answer, and marks it. */
const repeated: SendResult = { ...says('handled'), headers: { 'idempotency-replayed': 'true' } } as SendResult;
const none: SendResult = { problem: 'no answer within 20 s', fix: 'Answer sooner.', ms: 20_000 };
const ok = answer(200);
const passed = (evidence: string): Finding => ({ verdict: 'passed', evidence });
const failed = (evidence: string): Finding => ({ verdict: 'failed', evidence });
const unknown = (evidence: string): Finding => ({ verdict: 'unknown', evidence });
const warned = { verdict: 'warned' } as const;
const twice = { verdict: 'failed', diagnosis: 'handled_twice' } as const;
const SILENT = failed('no answer within 20 s');

type Row = [says: string, answers: SendResult[], finding: Partial<Finding>, effects?: number[]];

function judges(judge: Judge, rows: readonly Row[]) {
  it.each(rows)('%s', (_, answers, finding, effects) => {
    const found = judge(answers, effects);
    expect(found).toMatchObject(finding);
    if (!('diagnosis' in finding)) expect(found).not.toHaveProperty('diagnosis');
  });
}

describe('the verdict of doctor on a delivery that is sent twice', () => {
  const goesOn = 'answered 409 to a delivery that came twice: the service would go on trying';
  const unsaid = 'acknowledged, but the answer does not say whether it was handled again';
  judges(duplicates, [
    ['the probe passes where the second answer says duplicate', [ok, replayed()], passed('200 in 1 ms')],
    ['the probe fails where the second delivery is refused', [ok, answer(409)], failed(goesOn)],
    [
      'the probe fails where the first answer says duplicate',
      [replayed(), replayed()],
      failed('the first was taken for a duplicate'),
    ],
    ['the probe is unknown where an answer does not say whether it was handled', [ok, replayed(), ok], unknown(unsaid)],
    [
      'the probe fails where two answers say that the handler ran',
      [says('handled'), says('handled')],
      { ...failed('the handler ran 2 times for one event, as the answers say'), diagnosis: 'handled_twice' },
    ],
    ['a handler that discards an event has run', [says('handled', 202), says('discarded')], twice],
    [
      'the probe fails where the event is queued again',
      [says('queued', 202), says('queued', 202)],
      { ...failed('the event was queued 2 times, as the answers say'), diagnosis: 'queued_twice' },
    ],
    [
      'the probe is unknown where the queue knows the event',
      [says('queued', 202), says('known', 202)],
      unknown(unsaid),
    ],
    ['the probe is unknown where one answer says that the handler ran', [says('handled'), ok], unknown(unsaid)],
    ['the probe is unknown where answers have other words', [says('done'), says('done')], unknown(unsaid)],
    [
      'the probe is unknown where answers are no JSON',
      [answer(200, '{"outcome'), answer(200, 'null')],
      unknown(unsaid),
    ],
    ['the probe passes where a cache repeats the first answer', [says('handled'), repeated], passed('200 in 1 ms')],
    [
      'the probe is unknown, and says why, where no handler ran',
      [says('ignored'), says('ignored')],
      { ...unknown('the answers say that no handler ran'), diagnosis: 'no_handler' },
    ],
    [
      'a refusal counts before what another answer says',
      [says('handled'), says('handled', 500)],
      { verdict: 'failed' },
    ],
  ]);
});

describe('the verdict of doctor on a delivery that is sent twice, with an observer', () => {
  const one = 'the observer counted 1 effect of the event';
  judges(duplicates, [
    ['the probe passes where the retry has no effect', [ok, ok], passed(`${one}, and no other: 200 in 1 ms`), [1, 0]],
    [
      'the probe passes where one run has several effects',
      [ok, ok],
      passed('the observer counted 3 effects of the event, and no other: 200 in 1 ms'),
      [3, 0],
    ],
    [
      'the probe fails where the retry has an effect',
      [ok, ok],
      { ...failed(`${one}, and then 1 more`), diagnosis: 'counted_twice' },
      [1, 1],
    ],
    [
      'the probe fails where the retry has an effect and the answer says duplicate',
      [ok, replayed()],
      { verdict: 'failed', diagnosis: 'counted_twice' },
      [1, 1],
    ],
    [
      'the probe passes where an inbox makes a second run harmless',
      [says('handled'), says('handled')],
      { verdict: 'passed' },
      [1, 0],
    ],
    [
      'the probe fails where an acknowledged delivery has no effect',
      [ok, replayed()],
      { ...failed('acknowledged, but the observer counted no effect'), diagnosis: 'no_effect' },
      [0, 0],
    ],
    [
      'the probe fails where the effect comes with the retry alone',
      [ok, ok],
      { verdict: 'failed', diagnosis: 'no_effect' },
      [0, 1],
    ],
    [
      'the probe fails, and says why, where no handler ran',
      [says('ignored'), says('ignored')],
      {
        ...failed('acknowledged, but the observer counted no effect: the answers say that no handler ran'),
        diagnosis: 'no_handler',
      },
      [0, 0],
    ],
  ]);
});

describe('the verdict of doctor on a delivery that is sent several times at once', () => {
  const unsaid = '2 were acknowledged, and the answers do not say which was handled';
  judges(handledOnce, [
    [
      'the probe passes where one is handled and the others are duplicates',
      [replayed(), ok, replayed()],
      passed('200 in 1 ms'),
    ],
    [
      'the probe passes where one is handled and the others are refused for now',
      [answer(409), ok, answer(503)],
      passed('409, 200, 503 in 1 ms'),
    ],
    ['the probe fails where another breaks down', [ok, answer(500)], failed('answered 500')],
    ['the probe fails where another is refused permanently', [ok, answer(401)], failed('answered 401')],
    [
      'the probe fails where none is handled, so that the event is lost',
      [answer(409), replayed()],
      failed('none of them was acknowledged'),
    ],
    ['the probe is unknown where the answers do not say which was handled', [ok, ok, replayed()], unknown(unsaid)],
    [
      'the probe fails where two answers say that the handler ran',
      [says('handled'), replayed(), says('handled'), answer(409)],
      twice,
    ],
    [
      'the probe passes where the observer counted one run',
      [ok, ok],
      { verdict: 'passed', evidence: expect.stringContaining('1 effect of the event, and no other') },
      [1, 0],
    ],
    [
      'the probe fails where the observer counted more, whatever the answers say',
      [ok, replayed()],
      { ...failed('the observer counted 1 effect of the event, and then 4 more'), diagnosis: 'counted_twice' },
      [1, 4],
    ],
    ['a breakdown counts before the observer', [ok, answer(500)], failed('answered 500'), [1, 0]],
  ]);
});

describe('the verdict of doctor on different events', () => {
  const lost = failed('an event that never came before was taken for a duplicate, and is lost');
  judges(eachHandled, [
    ['the probe passes where each event is handled', [ok, answer(202)], passed('200, 202 in 1 ms')],
    ['a breakdown fails', [ok, answer(500)], failed('answered 500')],
    ['the probe fails where the first event is taken for a duplicate', [replayed(), ok], lost],
    ['the probe warns where the second event is taken for a duplicate', [ok, replayed()], warned],
    ['a refusal that says duplicate is a refusal', [replayed(500)], failed('answered 500')],
    ['silence fails', [none], SILENT],
    [
      'the probe passes where both answers say that a handler ran',
      [says('handled'), says('handled')],
      passed('200 in 1 ms'),
    ],
    [
      'the probe passes where the observer counted an effect of each',
      [ok, ok],
      passed('the observer counted an effect of each event: 200 in 1 ms'),
      [1, 1],
    ],
    ['the probe warns where the observer counted no effect of the second', [ok, ok], warned, [1, 0]],
    [
      'the probe fails where the observer counted no effect of the first',
      [ok, ok],
      { verdict: 'failed', diagnosis: 'no_effect' },
      [0, 1],
    ],
  ]);
});

describe('the verdict of doctor on an event that is sent under another Idempotency-Key', () => {
  judges(duplicateByKey, [
    ['the probe warns where only the key is compared', [ok, replayed(), ok], warned],
    [
      'the probe passes where the event is a duplicate under either key',
      [ok, replayed(), replayed()],
      passed('200 in 1 ms'),
    ],
    ['the probe is unknown where the answers do not say what was handled', [ok, ok, ok], { verdict: 'unknown' }],
    ['a breakdown fails', [ok, replayed(), answer(500)], { verdict: 'failed' }],
    ['the probe fails where every answer says that the handler ran', Array(3).fill(says('handled')), twice],
    [
      'the probe warns where the key was chosen, and the answers say that the handler ran under each',
      [says('handled'), replayed(), says('handled')],
      warned,
    ],
    ['the probe warns where the observer counted an effect of each key', [ok, ok, ok], warned, [1, 0, 1]],
    [
      'the probe passes where the observer counted no effect of the other key',
      [ok, ok, ok],
      { verdict: 'passed' },
      [1, 0, 0],
    ],
    [
      'the probe fails where the observer counted an effect of each delivery',
      [ok, ok, ok],
      { ...failed('the observer counted 1 effect of the event, and then 2 more'), diagnosis: 'counted_twice' },
      [1, 1, 1],
    ],
    [
      'the probe fails where the observer counted no effect of the first',
      [ok, ok, ok],
      { verdict: 'failed', diagnosis: 'no_effect' },
      [0, 0, 1],
    ],
  ]);
});
