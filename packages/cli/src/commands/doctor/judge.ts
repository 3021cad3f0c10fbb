import { isAcknowledged } from 'service-webhooks/service';
import { answerCode, isAccepted, noHandlerRan, pageOf } from '../../http/answer.js';
import type { Sending, SendResult } from '../../http/deliver.js';
import { shortened } from '../../output.js';
import type { OwnDiagnosis } from './diagnoses.js';
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
  /** The cause that the answers or the observer show, where they show one. */
  diagnosis?: OwnDiagnosis;
}

/**
 * Decides from the answers, in the order of the requests, whether an endpoint behaves correctly. `effects`: how many an
 * observer has counted after each request; undefined without an observer.
 */
export type Judge = (answers: readonly SendResult[], effects?: readonly number[]) => Finding;

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
  const bad = answers.find((answer) => !isAccepted(answer));
  return bad ? failed(inShort(bad)) : passed(slowest(answers));
};

/** Every delivery is acknowledged; the evidence says for how many types the app has no handler. */
export const acknowledgedTypes: Judge = (answers) => {
  const finding = acknowledged(answers);
  const without = answers.filter(noHandlerRan).length;
  if (finding.verdict !== 'passed' || without === 0) return finding;
  return passed(`${finding.evidence}; no handler ran for ${without} of ${answers.length} types`);
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

export function passed(evidence: string): Finding {
  return { verdict: 'passed', evidence };
}

export function warned(evidence: string): Finding {
  return { verdict: 'warned', evidence };
}

export function failed(evidence: string): Finding {
  return { verdict: 'failed', evidence };
}

export function inShort(sent: SendResult): string {
  if (sent.status === undefined) return sent.problem;
  const said = answerCode(sent.body) ?? pageOf(sent.body) ?? shortened(sent.body.trim(), 80);
  return `answered ${sent.status}${said && ` ${said}`}`;
}

export function slowest(answers: readonly SendResult[]): string {
  const statuses = [...new Set(answers.map(({ status, problem }) => status ?? problem))].join(', ');
  return `${statuses} in ${Math.max(...answers.map(({ ms }) => ms))} ms`;
}
