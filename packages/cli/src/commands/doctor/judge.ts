import { isAcknowledged } from 'service-webhooks/service';
import { answerCode } from '../../http/answer.js';
import type { Sending, SendResult } from '../../http/deliver.js';
import { shortened } from '../../output.js';
import type { Requests } from './requests.js';

/**
 * `warned`: the endpoint has chosen a behaviour that weakens it. `unknown`: its behaviour cannot be seen from outside.
 * `skipped`: the probe could not run.
 */
export type Verdict = 'passed' | 'failed' | 'warned' | 'unknown' | 'skipped';

export interface Finding {
  verdict: Verdict;
  /** The observation behind the verdict. */
  evidence: string;
}

/** Decides from the answers, in the order of the requests, whether an endpoint behaves correctly. */
export type Judge = (answers: readonly SendResult[]) => Finding;

/** One requirement for an endpoint; a row of the tables in `docs/cli.md`. */
export interface Requirement {
  name: string;
  /** The request, in words. */
  says: string;
  requests(from: Requests): readonly Sending[];
  /** Sends all requests at the same time, and not one after the other. */
  atOnce?: true;
  judge: Judge;
  /** What to do if it fails. */
  fix: string;
}

/** Every delivery is acknowledged. */
export const acknowledged: Judge = (answers) => {
  const bad = answers.find((answer) => !isAcknowledged(answer));
  return bad ? failed(inShort(bad)) : passed(slowest(answers));
};

/** Every request is refused, and without a server error. */
export const refused: Judge = (answers) => {
  const taken = answers.find(isAcknowledged);
  if (taken) return failed(`${inShort(taken)}: it was accepted`);
  const bad = answers.find(({ status = 0 }) => status < 400 || status > 499);
  if (bad?.status === undefined) return bad ? failed(inShort(bad)) : passed(slowest(answers));
  return failed(`${inShort(bad)}: to refuse is to answer 4xx`);
};

/** A legacy signature is refused; accepting it is a choice that an endpoint may have made. */
export const legacyRefused: Judge = (answers) => {
  const accepted = answers.find(isAcknowledged);
  return accepted
    ? warned(`${inShort(accepted)}: legacy signatures are accepted, which can be replayed`)
    : refused(answers);
};

/** Every answer is allowed, except a server error. */
export const answered: Judge = (answers) => {
  const bad = answers.find(({ status = 500 }) => status >= 500);
  return bad ? failed(inShort(bad)) : passed(slowest(answers));
};

/** The last delivery is acknowledged, whatever came before it. */
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

/**
 * Of several at the same time one is handled; the others are duplicates, or are refused so that the service retries.
 */
export const handledOnce: Judge = (answers) => {
  const bad = answers.find((answer) => !isAcknowledged(answer) && answer.status !== 409 && answer.status !== 503);
  if (bad) return failed(inShort(bad));
  const handled = answers.filter((answer) => isAcknowledged(answer) && !isReplayed(answer)).length;
  if (handled === 0) return failed('none of them was acknowledged');
  if (handled === 1) return passed(slowest(answers));
  return { verdict: 'unknown', evidence: `${handled} were acknowledged, and the answers do not say which was handled` };
};

/** Two events with one Idempotency-Key are both handled; deduplicating by that header is a choice. */
export const eachHandled: Judge = (answers) => {
  const [first, ...others] = answers;
  if (first && isAcknowledged(first) && isReplayed(first)) {
    return failed('an event that never came before was taken for a duplicate, and is lost');
  }
  if (others.some((answer) => isAcknowledged(answer) && isReplayed(answer))) {
    return warned('events are identified by the Idempotency-Key, which no signature covers');
  }
  return acknowledged(answers);
};

/** An event, its second attempt, and the same under another Idempotency-Key. */
export const duplicateByKey: Judge = (answers) => {
  const [first, second, underOtherKey] = answers;
  const known = second && isAcknowledged(second) && isReplayed(second);
  if (
    known &&
    underOtherKey &&
    isAcknowledged(underOtherKey) &&
    !isReplayed(underOtherKey) &&
    first &&
    !isReplayed(first)
  ) {
    return warned('the event was handled again under another Idempotency-Key, which no signature covers');
  }
  return duplicates(answers);
};

/** Returns whether an answer is the one of this library's receivers to a duplicate. */
function isReplayed(sent: SendResult): boolean {
  return sent.status !== undefined && sent.headers['idempotency-replayed'] === 'true';
}

function passed(evidence: string): Finding {
  return { verdict: 'passed', evidence };
}

function warned(evidence: string): Finding {
  return { verdict: 'warned', evidence };
}

function failed(evidence: string): Finding {
  return { verdict: 'failed', evidence };
}

function inShort(sent: SendResult): string {
  if (sent.status === undefined) return sent.problem;
  const said = answerCode(sent.body) ?? shortened(sent.body.trim(), 80);
  return `answered ${sent.status}${said && ` ${said}`}`;
}

function slowest(answers: readonly SendResult[]): string {
  const statuses = [...new Set(answers.map(({ status, problem }) => status ?? problem))].join(', ');
  return `${statuses} in ${Math.max(...answers.map(({ ms }) => ms))} ms`;
}
