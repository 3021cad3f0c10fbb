import type { WebhookEndpoint } from '../../../client/index.js';
import { RETRY_HORIZON_MS } from '../../../service/schedule.js';
import type { Output, Piece } from '../../output.js';
import { HOW_TO_ACCEPT } from './check-app.js';
import type { Rotation } from './rotation.js';

type StepName = 'create' | 'accept' | 'wait' | 'delete';
type StepState = 'done' | 'next' | 'later' | 'refused' | 'unknown';

const MARKS: Readonly<Record<StepState, Piece>> = {
  done: ['good', '✓'],
  next: ['strong', '→'],
  later: ['faint', '·'],
  refused: ['bad', '✗'],
  unknown: ['warn', '?'],
};

const ORDER: readonly StepName[] = ['create', 'accept', 'wait', 'delete'];

/** One line for a step of a rotation: how far it is, and what it is about. */
export type ReportStep = (step: StepName, state: StepState, details: StepDetails) => void;

interface StepDetails {
  says: string;
  secretFile?: string | undefined;
  until?: string | undefined;
}

export function reportStep(out: Output): ReportStep {
  return (step, state, { says, ...more }) =>
    out.record({ kind: 'step', step, state, says, ...more }, [
      MARKS[state],
      `${ORDER.indexOf(step) + 1} ${step.padEnd(6)}`,
      says,
      more.secretFile && `the new secret is in ${more.secretFile}`,
    ]);
}

/** Reports every step of a rotation, unchecked. */
export function showAll(step: ReportStep, { id, url }: WebhookEndpoint, rotation?: Rotation): void {
  step('create', rotation ? 'done' : 'next', rotation ? created(rotation) : { says: `a second endpoint for ${url}` });
  step('accept', rotation ? 'next' : 'later', { says: HOW_TO_ACCEPT });
  const until = rotation && untilOf(rotation);
  const hours = `${Math.floor(RETRY_HORIZON_MS / 3_600_000)} h ${Math.ceil((RETRY_HORIZON_MS % 3_600_000) / 60_000)} min`;
  step('wait', 'later', {
    says: `${until ? `until ${until}` : hours}, since ${id} alone retries the events from before`,
    until,
  });
  step('delete', 'later', { says: `${id}, after a question` });
}

export function created({ second, secretFile }: Rotation): { says: string; secretFile: string | undefined } {
  return { says: `${second} has the same URL`, secretFile };
}

export function untilOf({ begunAt }: Rotation): string {
  return new Date(Date.parse(begunAt) + RETRY_HORIZON_MS).toISOString();
}
