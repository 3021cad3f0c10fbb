import { isAcknowledged } from 'service-webhooks/service';
import { describe, expect, it } from 'vitest';
import { answerCode } from '../src/http/answer.js';
import type { SendResult } from '../src/http/deliver.js';
import { adviceLines, exitCodeOf, sendFields, sendPieces } from '../src/send-report.js';

const answer = (status: number, body = '', headers: Record<string, string> = {}): SendResult => ({
  ...{ status, body, headers, ms: 7 },
});
const none: SendResult = { problem: 'nothing listens there', fix: 'Start the app.', ms: 9 };
const refusal = JSON.stringify({ error: { code: 'invalid_signature' } });

describe('the report of a request that the command line sent', () => {
  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
  ])('an answer with the status %i acknowledges: %s', (status, acknowledged) => {
    expect(isAcknowledged(answer(status))).toBe(acknowledged);
  });

  it('a missing answer does not acknowledge', () => {
    expect(isAcknowledged(none)).toBe(false);
  });

  it('the record has the status, the code and the beginning of the answer', () => {
    expect(sendFields(answer(401, refusal))).toEqual({
      ...{ status: 401, acknowledged: false, ms: 7, code: 'invalid_signature', answer: refusal },
    });
    expect(sendFields(answer(200, 'x'.repeat(2_001)))).toEqual({
      ...{ status: 200, acknowledged: true, ms: 7, code: undefined, answer: `${'x'.repeat(2_000)}…` },
    });
    expect(sendFields(none)).toEqual({
      ...{ status: null, acknowledged: false, ms: 9, problem: 'nothing listens there' },
    });
  });

  it('the printed line has the status, whether it acknowledges, and the error or answer text', () => {
    expect(sendPieces(none)).toEqual([
      ['bad', 'no answer'],
      ['faint', '9 ms'],
    ]);
    expect(sendPieces(answer(204))).toEqual([['good', 204], 'acknowledged', ['faint', '7 ms']]);
    const bad = [['bad', 401], 'not acknowledged', ['faint', '7 ms']];
    expect(sendPieces(answer(401, refusal))).toEqual([...bad, 'invalid_signature']);
    expect(sendPieces(answer(401, 'x'.repeat(201)))).toEqual([...bad, `${'x'.repeat(200)}…`]);
  });

  it('the line about an event without a handler is a warning in every part', () => {
    expect(sendPieces(answer(200, '{"outcome":"ignored"}'))).toEqual([
      ['warn', 200],
      ['warn', 'acknowledged, no handler ran'],
      ['faint', '7 ms'],
    ]);
    expect(sendPieces(answer(500, '{"outcome":"ignored"}'))[0]).toEqual(['bad', 500]);
  });

  it.each([
    ['<!doctype html>\n<html><head><title>Vite App</title></head></html>', 'an HTML page with the title "Vite App"'],
    [' \n<HTML lang="en"></HTML>', 'an HTML page'],
    [`<!DOCTYPE html><title>${'x'.repeat(70)}</title>`, `an HTML page with the title "${'x'.repeat(60)}…"`],
  ])('a 200 with the HTML page %j does not acknowledge', (page, says) => {
    expect(sendPieces(answer(200, page))).toEqual([['bad', 200], 'something else answered', ['faint', '7 ms'], says]);
    expect(sendFields(answer(200, page))).toMatchObject({ status: 200, acknowledged: false });
    expect(exitCodeOf([answer(200, page)])).toBe(1);
  });

  it.each(['', 'OK', '{}', '{"html":"<html>"}', 'null', '<htmlish>', '<p>done</p>'])(
    'a 200 with the body %j acknowledges',
    (body) => {
      expect(sendPieces(answer(200, body))[1]).toBe('acknowledged');
    },
  );

  it('the advice below the line has one indented line for each sentence', () => {
    expect(adviceLines({ cause: 'failed', message: 'It failed. Port 1.5 is wrong.', fix: 'Do this.' })).toEqual([
      ['   It failed.'],
      ['   Port 1.5 is wrong.'],
      ['   Do this.'],
    ]);
    expect(adviceLines(undefined)).toEqual([]);
  });

  it.each([
    ['all are acknowledged', [answer(200), answer(202)], 0],
    ['one is refused', [answer(200), answer(500)], 1],
    ['one is not answered, another one is', [none, answer(200)], 1],
    ['nothing is answered', [none, none], 4],
  ])('the exit code is the one for a run where %s', (_, all, exitCode) => {
    expect(exitCodeOf(all)).toBe(exitCode);
  });

  it.each([
    [refusal, 'invalid_signature'],
    ['{"error":{"code":1}}', undefined],
    ['{"error":"no"}', undefined],
    ['{}', undefined],
    ['not JSON', undefined],
  ])('the error code of the answer is read from its error object: %s', (body, code) => {
    expect(answerCode(body)).toBe(code);
  });
});
