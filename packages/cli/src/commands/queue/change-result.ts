import { counted } from '../../output.js';
import type { Session } from '../../session.js';
import type { LetterEnds } from './follow-letters.js';
import { MOST_HELD } from './summaries.js';

/** What a command has done to dead letters. */
export interface ChangeResult {
  done: 'retried' | 'discarded';
  dryRun: boolean;
  changed: number;
  /** Those that another operator was faster with. */
  gone: number;
  /** Whether the limit left letters out. */
  hasMore: boolean;
  /** How the retried letters ended, where the command waited for it. */
  ends?: LetterEnds | undefined;
}

const WAITING =
  'Check that a worker runs. If one runs, a job may wait for minutes between two attempts: look for handler_failed in the log of the worker, or pass a longer --wait.';

/** Reports the result of a command that changes dead letters, the last record. */
export function reportResult({ out }: Session, limit: number, result: ChangeResult): void {
  const { done, dryRun, changed, gone, hasMore, ends } = result;
  const { isWaiting = false, ...counts } = ends ?? {};
  const lines = ends === undefined ? [] : [endsLine(changed, ends), ...(isWaiting ? [[WAITING]] : [])];
  out.record({ kind: 'result', dryRun, [done]: changed, gone, ...counts, hasMore }, ...lines);
  const orRaise = limit < MOST_HELD ? ', or raise --limit' : '';
  if (hasMore) out.note(`There are more than ${limit}: run it again${orRaise}.`);
}

function endsLine(retried: number, { handled, deadAgain, pending }: LetterEnds) {
  return [
    `${counted(retried, 'dead letter')} retried: ${handled} handled, ${deadAgain} dead again, ${pending} not ended.`,
  ];
}
