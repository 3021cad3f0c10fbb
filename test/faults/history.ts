import type { ClaimResult, Mutation, Seen } from 'service-webhooks';

/** What a client asked of a store. Times are milliseconds of one clock that only goes forward. */
export interface Call {
  client: string;
  kind: 'claim' | 'extend' | 'complete' | 'release';
  key: string;
  token: string;
  seen: Seen;
  /** Of the reference, in a complete. */
  fence?: number | undefined;
  leaseMs: number;
  retainMs: number;
  invoked: number;
}

/** A call, and what came of it. */
export interface Operation extends Call {
  /** Infinity where it is not known: the client died while it waited. */
  answered: number;
  /** Undefined where the call failed: it may have been applied or not. */
  answer?: ClaimResult | Mutation | undefined;
}

/** Writes down a call before it is made. The function that it returns writes down what came of it. */
export type Recorder = (call: Call) => (answered: number, answer?: Operation['answer']) => void;

/** A recorder in this process, with its operations. */
export function inMemory(): { record: Recorder; operations: Operation[] } {
  const operations: Operation[] = [];
  return {
    operations,
    record(call) {
      const operation: Operation = { ...call, answered: Number.POSITIVE_INFINITY };
      operations.push(operation);
      return (answered, answer) => Object.assign(operation, { answered, answer });
    },
  };
}

/** A recorder that writes lines, each at once, so that nothing is missing when the process is killed. */
export function inLines(write: (line: string) => void): Recorder {
  let calls = 0;
  return (call) => {
    calls += 1;
    const number = calls;
    write(`${JSON.stringify({ number, call })}\n`);
    return (answered, answer) => write(`${JSON.stringify({ number, answered, answer })}\n`);
  };
}

/** What the lines of one recorder say. A kill may have cut off the last one. */
export function fromLines(text: string): Operation[] {
  const operations = new Map<number, Operation>();
  for (const line of text.split('\n').slice(0, -1)) {
    const { number, call, ...result } = JSON.parse(line);
    operations.set(number, { answered: Number.POSITIVE_INFINITY, ...operations.get(number), ...call, ...result });
  }
  return [...operations.values()];
}
