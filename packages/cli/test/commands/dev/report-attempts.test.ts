import type { Attempt } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { reportAttempt } from '../../../src/commands/dev/report-attempts.js';
import type { Advice } from '../../../src/diagnosis/advice.js';
import { printedBy } from '../support.js';

const AT = Date.UTC(2026, 6, 11, 12, 30, 5);

function reported(changes: object, advice?: Advice) {
  const attempt = {
    ...{ type: 'stt.completed', eventId: 'evt_1', deliveryId: 'del_1', endpointId: 'wh_1', number: 2, faults: [] },
    ...{ at: AT, endedAt: AT + 40, outcome: 'acknowledged', reason: '2xx', duplicate: false, state: 'delivered' },
    ...{ answer: { status: 200, headers: {}, body: '' }, ...changes },
  };
  const { record, lines } = printedBy((out) => reportAttempt(out, attempt as unknown as Attempt, advice));
  const [line = [], ...more] = lines;
  return { record, line, more };
}

describe('the line that dev prints about an attempt', () => {
  it('an acknowledged attempt has its status, type, event id, number and duration', () => {
    const { record, line } = reported({});
    expect(record).toEqual({
      ...{ kind: 'attempt', at: '2026-07-11T12:30:05.000Z', type: 'stt.completed', eventId: 'evt_1' },
      ...{ deliveryId: 'del_1', endpointId: 'wh_1', attempt: 2, duplicate: false, faults: [], acknowledged: true },
      ...{ status: 200, reason: '2xx', error: undefined, ms: 40, state: 'delivered', nextAt: undefined },
    });
    expect(line).toEqual([
      ['faint', '12:30:05Z'],
      ['good', 200],
      'acknowledged',
      ['faint', '40 ms'],
      ...['stt.completed', 'evt_1', 'attempt 2'],
      ...[false, false],
    ]);
  });

  it('a 200 with an HTML page is marked as the answer of something else', () => {
    const { line } = reported({ answer: { status: 200, headers: {}, body: '<!doctype html><title>Vite</title>' } });
    expect(line).toContainEqual(['bad', 200]);
    expect(line).toContain('something else answered');
    expect(line).toContain('an HTML page with the title "Vite"');
  });

  it('an attempt that no handler has seen is a warning', () => {
    const { line } = reported({ answer: { status: 200, headers: {}, body: '{"outcome":"ignored"}' } });
    expect(line).toContainEqual(['warn', 200]);
    expect(line).toContainEqual(['warn', 'acknowledged, no handler ran']);
  });

  it('a refused attempt has the error code, the wait until the next attempt, and below it the advice', () => {
    const body = JSON.stringify({ error: { code: 'invalid_signature' } });
    const advice = { cause: 'other_secret', message: 'Your app has another secret.', fix: 'Compare them.' } as const;
    const changes = { outcome: 'failed', reason: 'non-2xx', state: 'waiting', nextAt: AT + 40 + 5_000 };
    const { record, line, more } = reported({ ...changes, answer: { status: 401, headers: {}, body } }, advice);
    expect(record).toMatchObject({ acknowledged: false, status: 401, advice, nextAt: '2026-07-11T12:30:10.040Z' });
    expect(line.slice(1, 5)).toEqual([['bad', 401], 'not acknowledged', ['faint', '40 ms'], 'invalid_signature']);
    expect(line.slice(8)).toEqual([false, 'next attempt in 5 s']);
    expect(more).toEqual([['   Your app has another secret.'], ['   Compare them.']]);
  });

  it('an attempt without an answer has the connection error and its faults', () => {
    const { record, line } = reported({
      ...{ outcome: 'failed', reason: 'connection', error: 'refused', answer: undefined, state: 'dead' },
      faults: ['lost', 'late'],
    });
    expect(record).toMatchObject({ status: undefined, reason: 'connection', error: 'refused' });
    expect(line[1]).toEqual(['bad', 'no answer']);
    expect(line.slice(6)).toEqual([
      ['warn', 'lost, late'],
      ['bad', 'dead'],
    ]);
  });

  it('an answer that came too late is shown as no answer', () => {
    for (const changes of [{ answer: undefined }, {}]) {
      const { line } = reported({ outcome: 'failed', reason: 'timeout', state: 'waiting', ...changes });
      expect(line[1]).toEqual(['bad', 'no answer']);
    }
  });

  it.each([
    [999.4, '999 ms'],
    [1_000, '1 s'],
    [1_540, '1.5 s'],
    [119_900, '119.9 s'],
    [120_000, '2 min'],
    [7_199_999, '120 min'],
    [7_200_000, '2 h'],
    [28_800_000, '8 h'],
  ])('the wait of %d ms is written as %s', (ms, words) => {
    const { line } = reported({ outcome: 'failed', reason: 'non-2xx', state: 'waiting', nextAt: AT + 40 + ms });
    expect(line.at(-1)).toBe(`next attempt in ${words}`);
  });
});
