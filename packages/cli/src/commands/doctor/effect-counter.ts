import { isAcknowledged } from 'service-webhooks/service';
import type { Sending, SendResult } from '../../http/deliver.js';
import { jsonFields } from '../../http/json-fields.js';
import type { ObservedEvent, Observer } from './observer.js';

export interface EffectCounterOptions {
  observer: Observer;
  /** The longest time from an answer to its effect. */
  waitMs: number;
  now(): number;
  sleep(ms: number): Promise<unknown>;
}

/** The answers to the deliveries of a probe, and the number of effects after each of them. */
export interface CountedAnswers {
  answers: SendResult[];
  /** Undefined where a delivery was not acknowledged, so that nothing is expected of it. */
  effects?: readonly number[] | undefined;
}

type Send = (sending: Sending) => Promise<SendResult>;

/** Sends deliveries, and counts their effects. */
export interface EffectCounter {
  /** Sends one after the other. */
  inTurn(sendings: readonly Sending[], send: Send): Promise<CountedAnswers>;
  /** Sends all deliveries of one event at the same time. The first number is the effects that one run has. */
  atOnce(sendings: readonly Sending[], send: Send): Promise<CountedAnswers>;
  /** Notes whether an app answers before it does the work. */
  saw(answers: readonly SendResult[]): void;
}

const PAUSE_MS = 250;
/** How long the number must stay the same, where the effects are there with the answer. */
const STILL_MS = 1_000;
/** How long the effects of earlier deliveries may go on. */
const SETTLE_MS = 15_000;

/** Counts effects with the observer of the user. */
export function createEffectCounter({ observer, waitMs, now, sleep }: EffectCounterOptions): EffectCounter {
  let perRun = 1;
  let comeLater = false; // as those of a queue do
  const stillMs = () => (comeLater ? waitMs : STILL_MS);

  async function countFrom(event: ObservedEvent, least: number): Promise<number> {
    const found = await observer.count(event);
    if (found >= least) return found;
    throw observer.failure(`the number went down, from ${least} to ${found}. It must count all effects so far.`);
  }

  /** Counts until the number has changed, or the time has passed. */
  async function changed(event: ObservedEvent, from: number, ms: number): Promise<number> {
    for (const until = now() + ms; ; await sleep(PAUSE_MS)) {
      const found = await countFrom(event, from);
      if (found !== from || now() >= until) return found;
    }
  }

  /** Counts until the effects of earlier deliveries have come to an end. */
  async function settled(event: ObservedEvent): Promise<number> {
    const until = now() + SETTLE_MS;
    for (let from = await observer.count(event); ; ) {
      await sleep(PAUSE_MS);
      const found = await changed(event, from, stillMs());
      if (found === from) return found;
      if (now() >= until) {
        throw observer.failure(
          `the number goes up while doctor sends nothing: from ${from} to ${found}. Count the effects of these deliveries alone, by the event id in WEBHOOK_EVENT_ID.`,
        );
      }
      from = found;
    }
  }

  async function firstEffect(event: ObservedEvent, from: number): Promise<number> {
    const atOnce = await countFrom(event, from);
    if (atOnce !== from) return atOnce;
    const later = await changed(event, from, waitMs);
    comeLater ||= later !== from;
    return later;
  }

  function saw(answers: readonly SendResult[]): void {
    comeLater ||= answers.some(({ status }) => status === 202);
  }

  async function inTurn(sendings: readonly Sending[], send: Send): Promise<CountedAnswers> {
    const answers: SendResult[] = [];
    const effects: number[] = [];
    let id: string | undefined;
    let total = 0;
    let isWatched = true;
    for (const sending of sendings) {
      const event = eventOf(sending);
      const isRetry = event.id === id;
      id = event.id;
      if (isWatched && !isRetry) total = await (answers.length === 0 ? settled(event) : observer.count(event));
      const answer = await send(sending);
      answers.push(answer);
      isWatched &&= isAcknowledged(answer);
      if (!isWatched) continue;
      saw([answer]);
      const wait = effects.some((number) => number > 0) ? stillMs() : 0; // of an event without an effect no second one is expected
      const found = isRetry ? await changed(event, total, wait) : await firstEffect(event, total);
      if (!isRetry && found > total) perRun = found - total;
      effects.push(found - total);
      total = found;
    }
    return { answers, effects: isWatched ? effects : undefined };
  }

  async function atOnce(sendings: readonly Sending[], send: Send): Promise<CountedAnswers> {
    const event = eventOf(sendings[0]);
    const before = await settled(event);
    const answers = await Promise.all(sendings.map(send));
    if (!answers.some(isAcknowledged)) return { answers };
    saw(answers);
    const some = await firstEffect(event, before);
    const all = some === before ? some : await changed(event, some, stillMs());
    const first = Math.min(all - before, perRun);
    return { answers, effects: [first, all - before - first] };
  }

  return { inTurn, atOnce, saw };
}

function eventOf(sending: Sending | undefined): ObservedEvent {
  const { id, type } = jsonFields(sending?.body ?? '');
  return { id: String(id), type: String(type) };
}
