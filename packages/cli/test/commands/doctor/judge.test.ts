import { describe, expect, it } from 'vitest';
import {
  acknowledged,
  acknowledgedLast,
  acknowledgedTypes,
  answered,
  type Finding,
  type Judge,
  legacyRefused,
  refused,
} from '../../../src/commands/doctor/judge.js';
import type { SendResult } from '../../../src/http/deliver.js';

const answer = (status: number, { body = '', ms = 1 } = {}): SendResult => ({ status, body, headers: {}, ms });
const none: SendResult = { problem: 'no answer within 20 s', fix: 'Answer sooner.', ms: 20_000 };
const ok = answer(200);
const passed = (evidence: string): Finding => ({ verdict: 'passed', evidence });
const failed = (evidence: string): Finding => ({ verdict: 'failed', evidence });
const warned = { verdict: 'warned' } as const;
const SILENT = failed('no answer within 20 s');

type Row = [says: string, answers: SendResult[], finding: Partial<Finding>];

function judges(judge: Judge, rows: readonly Row[]) {
  it.each(rows)('%s', (_, answers, finding) => {
    expect(judge(answers)).toMatchObject(finding);
  });
}

describe('the verdict of doctor on deliveries to acknowledge', () => {
  const error = JSON.stringify({ error: { code: 'invalid_signature' } });
  const times = [answer(200, { ms: 3 }), answer(202, { ms: 8 }), answer(200, { ms: 5 })];
  judges(acknowledged, [
    ['the evidence has each status once, and the slowest time', times, passed('200, 202 in 8 ms')],
    [
      'the evidence has the code of a refusal',
      [ok, answer(401, { body: error })],
      failed('answered 401 invalid_signature'),
    ],
    ['the evidence has the text of a refusal', [answer(500, { body: '  oh no\n' })], failed('answered 500 oh no')],
    ['a long text is cut', [answer(500, { body: 'x'.repeat(81) })], failed(`answered 500 ${'x'.repeat(80)}…`)],
    ['the evidence of a refusal without a text is its status', [answer(500)], failed('answered 500')],
    ['the evidence is the reason where nothing was answered', [none], SILENT],
  ]);
});

describe('the verdict of doctor on one delivery of each event type', () => {
  const ignored = answer(200, { body: '{"received":true,"outcome":"ignored"}' });
  judges(acknowledgedTypes, [
    [
      'the evidence says for how many types no handler ran',
      [ok, ignored, ignored],
      passed('200 in 1 ms; no handler ran for 2 of 3 types'),
    ],
    ['the evidence says nothing of handlers where each type has one', [ok, ok], passed('200 in 1 ms')],
    ['a refusal fails, whatever the others say', [ignored, answer(500)], failed('answered 500')],
  ]);
});

describe('the verdict of doctor on deliveries of which only the last must be acknowledged', () => {
  judges(acknowledgedLast, [
    ['an earlier missing answer does not matter where the last is 2xx', [ok, none, answer(204)], passed('204 in 1 ms')],
    ['a refusal of the last fails', [ok, answer(500)], failed('answered 500')],
  ]);
});

describe('the verdict of doctor on requests to refuse', () => {
  const not4xx = (status: number) => failed(`answered ${status}: to refuse is to answer 4xx`);
  judges(refused, [
    ['400 is a refusal', [answer(400)], passed('400 in 1 ms')],
    ['401 is a refusal', [answer(401)], passed('401 in 1 ms')],
    ['499 is a refusal', [answer(499)], passed('499 in 1 ms')],
    ['399 is no refusal', [answer(401), answer(399)], not4xx(399)],
    ['500 is no refusal', [answer(401), answer(500)], not4xx(500)],
    ['one acceptance is enough to fail', [answer(500), ok], failed('answered 200: it was accepted')],
    ['silence is no refusal', [answer(401), none], SILENT],
  ]);
});

describe('the verdict of doctor on a legacy signature to refuse', () => {
  judges(legacyRefused, [
    ['an acceptance is a warning', [ok], warned],
    ['a refusal passes', [answer(401)], passed('401 in 1 ms')],
    ['a breakdown fails', [answer(500)], { verdict: 'failed' }],
  ]);
});

describe('the verdict of doctor on requests that only need an answer', () => {
  judges(answered, [
    ['an acknowledgement passes', [answer(200)], passed('200 in 1 ms')],
    ['a refusal passes', [answer(400), answer(499)], passed('400, 499 in 1 ms')],
    ['a breakdown fails', [ok, answer(500)], failed('answered 500')],
    ['silence fails', [none], SILENT],
  ]);
});
