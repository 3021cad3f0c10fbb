import { isWebhookError, type Secret } from 'service-webhooks';
import { check, checkPositiveInteger } from 'service-webhooks/option-checks';
import { ANSWER_TIMEOUT_MS, isAcknowledged } from 'service-webhooks/service';
import { signedHeaders } from 'service-webhooks/testing';
import type { Attempt, Emulator, Faults } from 'service-webhooks-emulator';
import { deliverAsService } from '../../http/deliver.js';
import { leftOut, readOwnEvent } from '../own-event.js';
import type { ActionInputs, ActionName } from '../page-source.js';
import { outcomeOf } from './emulator-attempts.js';
import type { SkippedTime } from './skipped-time.js';

export interface EmulatorActionsParts {
  emulator: Emulator;
  time: SkippedTime;
  headerPrefix: string;
  /** The faults that strike without the page's doing. */
  faults: Faults;
  secretOf(endpointId: string): Secret | undefined;
  attemptsOf(deliveryId: string): readonly Attempt[];
  replayed(deliveryId: string, attempt: Omit<Attempt, 'seq'>): void;
  failing(count: number): void;
  /** Returns how many deliveries have gone, and how many are still under way. */
  clear(): { gone: number; left: number };
}

/** Why an attempt cannot be signed again. */
export const NO_SECRET = 'its secret is not known here: send the same bytes and headers';

/** What an emulator's page can do; each returns a sentence about what it did. */
export function emulatorActions(parts: EmulatorActionsParts): {
  [Name in ActionName]: (input: ActionInputs[Name]) => string | Promise<string>;
} {
  const { emulator, time, headerPrefix, faults, secretOf } = parts;
  const sent = (type: string, deliveries: number) =>
    deliveries === 0 ? `No endpoint has subscribed to ${type}.` : `${type} is on its way.`;

  return {
    redeliver: ({ delivery }) => `${emulator.deliveries.redeliver(delivery).eventId} starts again.`,
    redeliverDead() {
      const dead = emulator.deliveries.list({ state: 'dead' });
      check(dead.length > 0, 'no delivery is dead');
      let started = 0;
      try {
        for (const { id } of dead) {
          emulator.deliveries.redeliver(id);
          started += 1;
        }
      } catch (error) {
        if (started === 0 || !isWebhookError(error)) throw error;
        return `${started} of ${dead.length} dead deliveries start again: ${error.problem}`;
      }
      return started === 1 ? '1 dead delivery starts again.' : `${started} dead deliveries start again.`;
    },
    async replay({ delivery, exact }) {
      const last = parts.attemptsOf(delivery).findLast(({ duplicate }) => !duplicate);
      check(last !== undefined, 'there is no attempt of it that could be sent again');
      const secret = secretOf(last.endpointId);
      check(exact || secret !== undefined, NO_SECRET);
      const again = await sendAgain(last, { secret: exact ? undefined : secret, headerPrefix, now: emulator.now });
      parts.replayed(delivery, again);
      const { status, problem } = outcomeOf(again);
      return `${again.eventId} was sent again: ${problem ?? status}.`;
    },
    async send({ type }) {
      const { deliveries } = await emulator.emit(type);
      return sent(type, deliveries.length);
    },
    async emit({ event: json }) {
      const { event, problem = '' } = readOwnEvent(json);
      check(event !== undefined, problem.replace(/\.$/, ''));
      const { type, data, ...rest } = event;
      const { deliveries } = await emulator.emit(type, { ...rest, data: { ...leftOut(event), ...data } });
      return sent(type, deliveries.length);
    },
    failNext({ count }) {
      checkPositiveInteger('count', count);
      emulator.setFaults({ ...faults, reset: { rate: 1, times: count, at: 'request' } });
      parts.failing(count);
      return `The next ${count === 1 ? 'request fails' : `${count} requests fail`}: the connection is reset.`;
    },
    pause({ endpoint }) {
      emulator.endpoints.pause(endpoint);
      return 'The endpoint is paused.';
    },
    enable({ endpoint }) {
      emulator.endpoints.enable(endpoint);
      return 'The endpoint is active.';
    },
    async advance({ ms }) {
      await time.advance(ms);
      return 'The time has passed.';
    },
    clear() {
      const { gone, left } = parts.clear();
      const cleared = gone === 1 ? '1 delivery is cleared.' : `${gone} deliveries are cleared.`;
      return left === 0 ? cleared : `${cleared} ${left} still under way ${left === 1 ? 'stays' : 'stay'}.`;
    },
  };
}

interface SendAgainOptions {
  /** Signs the attempt again; undefined sends it unchanged. */
  secret: Secret | undefined;
  headerPrefix: string;
  now(): number;
}

/** Sends an attempt again, manually and outside of the schedule: its answer changes nothing. Never rejects. */
export async function sendAgain(
  attempt: Attempt,
  { secret, headerPrefix, now }: SendAgainOptions,
): Promise<Omit<Attempt, 'seq'>> {
  const at = now();
  const request = secret === undefined ? attempt.request : signedAnew(attempt.request, secret, at, headerPrefix);
  const { signal } = new AbortController();
  const sent = await deliverAsService(request, new URL(request.url), { timeoutMs: ANSWER_TIMEOUT_MS, signal });
  const again = { ...attempt, request, duplicate: false, faults: [], at, endedAt: now() };
  if (sent.problem !== undefined) {
    return { ...again, outcome: 'failed', reason: 'connection_error', answer: undefined, error: sent.problem };
  }
  const { status, headers, body } = sent;
  const acknowledged = isAcknowledged(sent);
  return {
    ...again,
    outcome: acknowledged ? 'acknowledged' : 'failed',
    reason: acknowledged ? '2xx' : 'non-2xx',
    answer: { status, headers, body },
    error: undefined,
  };
}

function signedAnew(request: Attempt['request'], secret: Secret, at: number, headerPrefix: string): Attempt['request'] {
  const signed = signedHeaders({ body: request.body, secret, at, headerPrefix });
  return { ...request, headers: { ...request.headers, ...signed } };
}
