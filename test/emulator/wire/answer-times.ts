import type { AnswerTime } from '../../../src/emulator/wire/answer-time.js';

/** The time for an answer, which passes when the test says so. */
export interface TestTime extends AnswerTime {
  /** Lets it be over. */
  pass(): void;
  /** What was held, in milliseconds. */
  readonly held: number[];
}

/** Each hold is over at once; of what is sent, that in the place `endsAt` is too late. */
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
