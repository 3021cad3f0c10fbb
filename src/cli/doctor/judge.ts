import type { Sent } from '../deliver.js';
import { shortened } from '../printable.js';
import { errorCode, isAcknowledged } from '../sent.js';

/** `unknown`: what the endpoint did cannot be seen from outside. `skipped`: it could not be asked. */
export type Verdict = 'passed' | 'failed' | 'unknown' | 'skipped';

export interface Finding {
  verdict: Verdict;
  /** What it was concluded from. */
  evidence: string;
}

/** Concludes from the answers, in the order of the requests, whether an endpoint did right. */
export type Judge = (answers: readonly Sent[]) => Finding;

/** Every delivery is acknowledged. */
export const acknowledged: Judge = (answers) => {
  const bad = answers.find((answer) => !isAcknowledged(answer));
  return bad ? failed(inShort(bad)) : passed(slowest(answers));
};

/** Every request is refused, and without breaking down. */
export const refused: Judge = (answers) => {
  const taken = answers.find(isAcknowledged);
  if (taken) return failed(`${inShort(taken)}: it was accepted`);
  const bad = answers.find(({ status = 0 }) => status < 400 || status > 499);
  if (bad?.status === undefined) return bad ? failed(inShort(bad)) : passed(slowest(answers));
  return failed(`${inShort(bad)}: to refuse is to answer 4xx`);
};

/** Whatever it answers, it does not break down. */
export const answered: Judge = (answers) => {
  const bad = answers.find(({ status = 500 }) => status >= 500);
  return bad ? failed(inShort(bad)) : passed(slowest(answers));
};

/** What is sent last is acknowledged, whatever came before it. */
export const acknowledgedLast: Judge = (answers) => acknowledged(answers.slice(-1));

/** The first is handled, the others are acknowledged as duplicates of it. */
export const duplicates: Judge = (answers) => {
  const [first, ...others] = answers;
  const bad = answers.find((answer) => !isAcknowledged(answer));
  if (bad) return failed(`${inShort(bad)} to a delivery that came twice: the service would go on trying`);
  if (first && isReplayed(first)) return failed('the first was taken for a duplicate');
  if (others.every(isReplayed)) return passed(slowest(answers));
  return { verdict: 'unknown', evidence: 'acknowledged, but the answer does not say whether it was handled again' };
};

/** Of several at once one is handled; the others are duplicates, or told to come again. */
export const handledOnce: Judge = (answers) => {
  const bad = answers.find((answer) => !isAcknowledged(answer) && answer.status !== 409 && answer.status !== 503);
  if (bad) return failed(inShort(bad));
  const handled = answers.filter((answer) => isAcknowledged(answer) && !isReplayed(answer)).length;
  if (handled === 0) return failed('none of them was acknowledged');
  if (handled === 1) return passed(slowest(answers));
  return { verdict: 'unknown', evidence: `${handled} were acknowledged, and the answers do not say which was handled` };
};

/** All are handled, none is taken for a duplicate. */
export const eachHandled: Judge = (answers) => {
  if (answers.some((answer) => isAcknowledged(answer) && isReplayed(answer))) {
    return failed('an event that never came before was taken for a duplicate, and is lost');
  }
  return acknowledged(answers);
};

/** What receivers of this library answer to a duplicate. */
function isReplayed(sent: Sent): boolean {
  return sent.status !== undefined && sent.headers['idempotency-replayed'] === 'true';
}

function passed(evidence: string): Finding {
  return { verdict: 'passed', evidence };
}

function failed(evidence: string): Finding {
  return { verdict: 'failed', evidence };
}

function inShort(sent: Sent): string {
  if (sent.status === undefined) return sent.problem;
  const said = errorCode(sent.body) ?? shortened(sent.body.trim(), 80);
  return `answered ${sent.status}${said && ` ${said}`}`;
}

function slowest(answers: readonly Sent[]): string {
  const statuses = [...new Set(answers.map(({ status, problem }) => status ?? problem))].join(', ');
  return `${statuses} in ${Math.max(...answers.map(({ ms }) => ms))} ms`;
}
