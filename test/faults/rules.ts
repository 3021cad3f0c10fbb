import type { Operation } from './history.js';
import { MARGIN_MS } from './row.js';

// What must never be, said of the answers alone: no rule knows how a store works. A rule counts only what is certain,
// and so never blames an operation whose instant is not known.

/** Finds operations on one key that contradict each other. */
export type Rule = (operations: readonly Operation[]) => readonly Operation[] | undefined;

export const RULES: Readonly<Record<string, Rule>> = {
  'two owners at once': findTwoOwners,
  'completed, and acquired again': findCompletedAgain,
  'a fence that does not grow': findOldFence,
  'refused, though no client has it': findLost,
};

/** An owner acts while the lease of another is running for certain. */
function findTwoOwners(operations: readonly Operation[]): readonly Operation[] | undefined {
  const holding = operations.filter(holds);
  for (const owner of holding) {
    const end = Math.min(owner.invoked + owner.leaseMs, ...ownActs(operations, owner).map(({ invoked }) => invoked));
    const rival = holding.find(
      ({ token, invoked, answered }) => token !== owner.token && invoked > owner.answered && answered < end - MARGIN_MS,
    );
    if (rival) return [owner, rival];
  }
  return undefined;
}

/** Whatever else the owner does to its lease from then on: to renew it may make it shorter. */
function ownActs(operations: readonly Operation[], owner: Operation): Operation[] {
  return operations.filter(
    (one) => one !== owner && one.token === owner.token && one.answered > owner.invoked && one.answer !== 'lost',
  );
}

function findCompletedAgain(operations: readonly Operation[]): readonly Operation[] | undefined {
  for (const complete of operations.filter(({ kind, answer }) => kind === 'complete' && answer === 'ok')) {
    const again = operations.find(
      (one) =>
        isAcquired(one) &&
        one.invoked > complete.answered &&
        one.answered < complete.invoked + complete.retainMs - MARGIN_MS,
    );
    if (again) return [complete, again];
  }
  return undefined;
}

/** Two owners share a fence, or a later one has a lower one. */
function findOldFence(operations: readonly Operation[]): readonly Operation[] | undefined {
  const acquired = operations.filter(isAcquired);
  for (const one of acquired) {
    const later = acquired.find(
      (other) =>
        other.token !== one.token &&
        (other.invoked > one.answered
          ? fenceOf(other) <= fenceOf(one)
          : other.invoked >= one.invoked && fenceOf(other) === fenceOf(one)),
    );
    if (later) return [one, later];
  }
  return undefined;
}

/** Refused without a lease that can be running, and without a completion: then no client will ever handle it. */
function findLost(operations: readonly Operation[]): readonly Operation[] | undefined {
  const refused = operations.find((claim) => {
    if (typeof claim.answer !== 'object' || claim.answer.status === 'acquired') return false;
    const { status } = claim.answer;
    const reason = operations.find((one) => {
      if (one.invoked > claim.answered) return false;
      if (status === 'completed') return one.kind === 'complete' && one.answer !== 'lost';
      return mayHold(one) && one.token !== claim.token && one.answered + one.leaseMs + MARGIN_MS >= claim.invoked;
    });
    return reason === undefined;
  });
  return refused && [refused];
}

function isAcquired({ answer }: Operation): boolean {
  return typeof answer === 'object' && answer.status === 'acquired';
}

function fenceOf({ answer }: Operation): number {
  return typeof answer === 'object' ? answer.fence : 0;
}

/** From its answer on, its client has a lease. */
function holds(operation: Operation): boolean {
  return isAcquired(operation) || (operation.kind === 'extend' && operation.answer === 'ok');
}

function mayHold(operation: Operation): boolean {
  return holds(operation) || (operation.answer === undefined && ['claim', 'extend'].includes(operation.kind));
}
