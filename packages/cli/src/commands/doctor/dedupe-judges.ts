import { isAcknowledged } from 'service-webhooks/service';
import { noHandlerRan } from '../../http/answer.js';
import type { SendResult } from '../../http/deliver.js';
import { jsonFields } from '../../http/json-fields.js';
import { counted } from '../../output.js';
import { acknowledged, type Finding, failed, inShort, type Judge, passed, slowest, warned } from './judge.js';

/** An event that is sent several times, one after the other: the first is handled, the others are duplicates of it. */
export const duplicates: Judge = (answers, effects) => {
  const [first, ...others] = answers;
  const bad = answers.find((answer) => !isAcknowledged(answer));
  if (bad) return failed(`${inShort(bad)} to a delivery that came twice: the service would go on trying`);
  if (first && isReplayed(first)) return failed('the first was taken for a duplicate');
  if (effects) return oneEffect(answers, effects);
  if (others.every(isReplayed)) return passed(slowest(answers));
  return proofIn(answers) ?? unknown('acknowledged, but the answer does not say whether it was handled again');
};

/**
 * Of several at the same time one is handled; the others are duplicates, or are refused so that the service retries.
 */
export const handledOnce: Judge = (answers, effects) => {
  const bad = answers.find((answer) => !isAcknowledged(answer) && answer.status !== 409 && answer.status !== 503);
  if (bad) return failed(inShort(bad));
  const handled = answers.filter((answer) => isAcknowledged(answer) && !isReplayed(answer)).length;
  if (handled === 0) return failed('none of them was acknowledged');
  if (effects) return oneEffect(answers, effects);
  if (handled === 1) return passed(slowest(answers));
  return proofIn(answers) ?? unknown(`${handled} were acknowledged, and the answers do not say which was handled`);
};

/** Two events with one Idempotency-Key are both handled; deduplicating by that header is a choice. */
export const eachHandled: Judge = (answers, effects) => {
  const [first, ...others] = answers;
  if (first && isAcknowledged(first) && isReplayed(first)) {
    return failed('an event that never came before was taken for a duplicate, and is lost');
  }
  const isSecondLost = effects ? effects[0] !== 0 && effects[1] === 0 : others.some(isAcknowledgedDuplicate);
  if (isSecondLost) return warned('events are identified by the Idempotency-Key, which no signature covers');
  if (effects?.includes(0)) return withoutEffect(answers);
  return effects ? passed(`the observer counted an effect of each event: ${slowest(answers)}`) : acknowledged(answers);
};

/** An event, its second attempt, and the same under another Idempotency-Key. */
export const duplicateByKey: Judge = (answers, effects) => {
  const [first, second, underOtherKey] = answers;
  const isAgain = effects
    ? effects[0] !== 0 && effects[1] === 0 && effects[2] !== 0
    : first &&
      !isReplayed(first) &&
      second &&
      isAcknowledgedDuplicate(second) &&
      underOtherKey &&
      !isReplayed(underOtherKey);
  if (isAgain && answers.every(isAcknowledged)) {
    return warned('the event was handled again under another Idempotency-Key, which no signature covers');
  }
  return duplicates(answers, effects);
};

/** The judgement of the observer, which is surer than that of the answers: an inbox may make a second run harmless. */
function oneEffect(answers: readonly SendResult[], [first = 0, ...others]: readonly number[]): Finding {
  if (first === 0) return withoutEffect(answers);
  const more = others.reduce((sum, count) => sum + count, 0);
  const said = `the observer counted ${counted(first, 'effect')} of the event`;
  if (more === 0) return passed(`${said}, and no other: ${slowest(answers)}`);
  return { ...failed(`${said}, and then ${more} more`), diagnosis: 'counted_twice' };
}

function withoutEffect(answers: readonly SendResult[]): Finding {
  const evidence = 'acknowledged, but the observer counted no effect';
  if (!answers.every(noHandlerRan)) return { ...failed(evidence), diagnosis: 'no_effect' };
  return { ...failed(`${evidence}: the answers say that no handler ran`), diagnosis: 'no_handler' };
}

const STARTED: readonly unknown[] = ['handled', 'discarded'];

/**
 * Returns what the answers to one event say about its handler, where that is more than an acknowledgement. They are
 * believed where they speak against the endpoint, and in nothing else: any program may answer like this library.
 */
function proofIn(answers: readonly SendResult[]): Finding | undefined {
  const outcomes = answers.filter((answer) => isAcknowledged(answer) && !isReplayed(answer)).map(outcomeOf);
  const ran = outcomes.filter((outcome) => STARTED.includes(outcome)).length;
  const stored = outcomes.filter((outcome) => outcome === 'queued').length;
  if (ran > 1) {
    return { ...failed(`the handler ran ${ran} times for one event, as the answers say`), diagnosis: 'handled_twice' };
  }
  if (stored > 1) {
    return { ...failed(`the event was queued ${stored} times, as the answers say`), diagnosis: 'queued_twice' };
  }
  if (answers.every(noHandlerRan))
    return { ...unknown('the answers say that no handler ran'), diagnosis: 'no_handler' };
  return undefined;
}

function outcomeOf(answer: SendResult): unknown {
  return answer.status === undefined ? undefined : jsonFields(answer.body)['outcome'];
}

/** Returns whether an answer is the one of this library's receivers to a duplicate. */
function isReplayed(sent: SendResult): boolean {
  return sent.status !== undefined && sent.headers['idempotency-replayed'] === 'true';
}

function isAcknowledgedDuplicate(sent: SendResult): boolean {
  return isAcknowledged(sent) && isReplayed(sent);
}

function unknown(evidence: string): Finding {
  return { verdict: 'unknown', evidence };
}
