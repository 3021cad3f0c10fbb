import { answerAdvice, answerCode } from '../http/answer.js';
import type { AttemptDetails, AttemptRow } from './page-source.js';

/** An answer, as every source has it. */
export interface GivenAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns what an answer says beyond its status: its code, and what to do about a refusal. */
export function answerFacts(answer: GivenAnswer | undefined, url: string): Pick<AttemptDetails, 'code' | 'advice'> {
  if (answer === undefined) return {};
  const advice = URL.canParse(url) ? answerAdvice({ ...answer, ms: 0 }, new URL(url)) : undefined;
  return { code: answerCode(answer.body) ?? outcomeIn(answer.body), advice };
}

/** Returns whether the app has answered that it knows the event already, as receivers of this library do. */
export function isRecognised(answer: GivenAnswer | undefined): Pick<AttemptRow, 'recognised'> {
  return answer?.headers['idempotency-replayed'] === 'true' ? { recognised: true } : {};
}

function outcomeIn(body: string): string | undefined {
  let outcome: unknown;
  try {
    outcome = JSON.parse(body).outcome;
  } catch {}
  return typeof outcome === 'string' ? outcome : undefined;
}
