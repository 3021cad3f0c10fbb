import type { Output, Piece } from '../../output.js';

export type StepName = 'create' | 'accept' | 'wait' | 'delete';
export type StepState = 'done' | 'next' | 'later' | 'refused' | 'unknown';

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

export interface StepDetails {
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
