import type { Operation } from './history.js';
import { findDisorder } from './order.js';
import { RULES } from './rules.js';

/** What no right store would have answered. */
export interface Violation {
  /** One of {@link RULES}, or `answers in no order`. */
  rule: string;
  key: string;
  /** The operations that show it. */
  operations: readonly Operation[];
  /** The one that fits no order of these. */
  unexplained?: Operation;
}

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
      const operations = ofKey.filter(({ invoked }) => invoked <= unexplained.answered);
      violations.push({ rule: 'answers in no order', key, operations, unexplained });
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
export function describeViolation({ rule, key, operations, unexplained }: Violation): string {
  const lines = operations.map((operation) => {
    const { client, kind, token, leaseMs, invoked, answered, answer } = operation;
    const says = typeof answer === 'object' ? JSON.stringify(answer) : (answer ?? 'failed');
    const mark = operation === unexplained ? '>' : ' ';
    const when = `${invoked.toFixed(3)} to ${answered.toFixed(3)}`;
    return `${mark} ${when}  ${client}  ${kind} ${token}, ${leaseMs} ms: ${says}`;
  });
  return [`${rule}, key ${key}:`, ...lines].join('\n');
}
