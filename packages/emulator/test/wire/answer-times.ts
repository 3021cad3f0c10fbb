import type { AnswerTime } from '../../src/wire/answer-time.js';

/** The time for an answer, which the test lets pass. */
export interface TestTime extends AnswerTime {
  /** Lets the time pass. */
  pass(): void;
  /** The holds, in milliseconds. */
  readonly held: number[];
}

/** Each hold ends at once; those after the first `endsAt` are too late. */
export function createTestTime(endsAt = Number.POSITIVE_INFINITY): TestTime {
  const held: number[] = [];
  let passed = () => {};
  return {
    held,
    onPassed(callback) {
      passed = callback;
    },
    async hold(ms) {
      held.push(ms);
      return held.length <= endsAt;
    },
    interrupt() {},
    end() {},
    pass: () => passed(),
  };
}
