import type { Operation } from './history.js';
import { findDisorder } from './order.js';
import { RULES } from './rules.js';

/** What no right store would have answered. */
export interface Violation {
  /** One of {@link RULES}, or `answers in no order`. */
  rule: string;
  key: string;
  /** The operations that show it, and those before. */
  operations: readonly Operation[];
}

/** How many operations a violation shows. */
const SHOWN = 12;

/** All violations, at most one of each kind for a key. */
export function checkHistory(operations: readonly Operation[]): Violation[] {
  return [...byKey(operations)].flatMap(([key, ofKey]) => {
    const violations: Violation[] = [];
    for (const [rule, find] of Object.entries(RULES)) {
      const found = find(ofKey);
      if (found) violations.push({ rule, key, operations: found });
    }
    const unexplained = findDisorder(ofKey);
    if (unexplained) {
      const before = ofKey.filter(({ invoked }) => invoked <= unexplained.answered);
      violations.push({ rule: 'answers in no order', key, operations: before.slice(-SHOWN) });
    }
    return violations;
  });
}

function byKey(operations: readonly Operation[]): Map<string, Operation[]> {
  const keys = new Map<string, Operation[]>();
  for (const operation of [...operations].sort((a, b) => a.invoked - b.invoked)) {
    const ofKey = keys.get(operation.key);
    if (ofKey) ofKey.push(operation);
    else keys.set(operation.key, [operation]);
  }
  return keys;
}

/** In lines that can be read. */
export function describeViolation({ rule, key, operations }: Violation): string {
  const lines = operations.map(({ client, kind, token, leaseMs, invoked, answered, answer }) => {
    const says =
      typeof answer === 'object' ? `${answer.status} ${JSON.stringify({ ...answer, seen: undefined })}` : answer;
    return `  ${invoked.toFixed(3)} to ${answered.toFixed(3)}  ${client}  ${kind} ${token}, ${leaseMs} ms: ${says ?? 'failed'}`;
  });
  return [`${rule}, key ${key}:`, ...lines].join('\n');
}
