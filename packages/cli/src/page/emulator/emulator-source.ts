import type { Secret } from 'service-webhooks';
import {
  type Attempt,
  type Emulator,
  type EmulatorDelivery,
  type Faults,
  PAUSE_AFTER_DEAD,
  RETRY_WAITS_MS,
} from 'service-webhooks-emulator';
import type { Advice } from '../../diagnosis/advice.js';
import type {
  Actions,
  AttemptText,
  Change,
  DeliveryDetails,
  DeliveryRow,
  Overview,
  PageSource,
} from '../page-source.js';
import { emulatorActions, NO_SECRET } from './emulator-actions.js';
import { causeOf, outcomeOf, textsOf, toAttemptDetails, toAttemptRow, toMessage } from './emulator-attempts.js';
import { howToFind } from './lost-webhook.js';
import { attemptsAfter, createSkippedTime } from './skipped-time.js';

export interface EmulatorSourceOptions {
  emulator: Emulator;
  /** The clock of the emulator. */
  clock: 'virtual' | 'real';
  /** The speed of the emulator's clock. Default: 1. */
  speed?: number | undefined;
  /** The prefix of the emulator's headers. Default: `x-service`. */
  headerPrefix?: string | undefined;
  /** The faults that occur without an action of the page. */
  faults?: Faults | undefined;
  /** Returns the signing secret of an endpoint, which `endpoints.create` returned: the emulator shows it once. */
  secretOf(endpointId: string): Secret | undefined;
  /** Resolves to why the app did not acknowledge an attempt. Default: nothing is said about it. */
  adviceOn?: ((attempt: Attempt) => Promise<Advice | undefined>) | undefined;
  /** The command that makes a first delivery; `dev` with an event by default. */
  command?: (() => string) | undefined;
  /** Returns whether the app has asked for the job of a lost delivery. Default: no. */
  wasAsked?: ((deliveryId: string) => boolean) | undefined;
}

/** How often the emulator is read, while a page is open. */
const LOOK_MS = 100;
/** The number of replays of one delivery that are kept; the oldest are removed. */
const MAX_REPLAYS = 100;
const NO_ENDPOINT =
  'There is no endpoint: create one through the API, or stop dev and start it with the port of your app:';
const FIRST_COMMAND = 'npx service-webhooks-cli dev 3000 --emit generation.completed';

/** What the page keeps of a delivery that the emulator does not. */
interface Noted {
  /** The latest attempt. */
  latest?: Attempt;
  /** Why the app did not acknowledge it, once that is known. */
  advice?: Advice | undefined;
  hasFailed: boolean;
  /** Whether the fault `never` has lost it; it may have been started again. */
  wasLost: boolean;
  replays: Attempt[];
  duplicates: number;
  /** How much time the page had skipped when the delivery came. */
  aheadMs: number;
  /** Whether it is out of the list as long as it is ended. */
  cleared: boolean;
}

/** The deliveries of an emulator. */
export function emulatorSource(options: EmulatorSourceOptions): PageSource {
  const { emulator, clock, speed = 1, headerPrefix = 'x-service', faults = {}, secretOf } = options;
  const { command = () => FIRST_COMMAND, adviceOn = async () => undefined, wasAsked = () => false } = options;
  const watchers = new Set<(change: Change) => void>();
  const time = createSkippedTime(emulator, clock === 'virtual' ? 0 : speed);
  const noted = new Map<string, Noted>();
  let replayed = 0;
  let failing = 0;
  let seen = 0;
  let overviewSeen = '';
  /** The deliveries that are not counted any more, because they were cleared. */
  let uncounted = 0;
  /** The list as it was at the last look. */
  let rows = new Map<string, DeliveryRow>();
  let timer: NodeJS.Timeout | undefined;

  const noteOf = (deliveryId: string): Noted => {
    const fresh = { replays: [], duplicates: 0, aheadMs: time.ms, cleared: false, hasFailed: false, wasLost: false };
    const known = noted.get(deliveryId) ?? fresh;
    noted.set(deliveryId, known);
    return known;
  };

  /** Reads the changes since the last call, and notifies the watchers. */
  function look(): Overview {
    for (const attempt of attemptsAfter(emulator, seen)) {
      seen = attempt.seq;
      const note = noteOf(attempt.deliveryId);
      note.hasFailed ||= attempt.outcome !== 'acknowledged';
      if (attempt.duplicate) note.duplicates += 1;
      else takeIn(note, attempt);
      if (failing > 0 && attempt.faults.includes('reset') && --failing === 0) emulator.setFaults(faults);
    }
    const all = emulator.deliveries.list();
    for (const { id, state } of all) if (state === 'lost') noteOf(id).wasLost = true;
    const listed = new Map(all.filter(isListed).map((delivery) => [delivery.id, toRow(delivery)]));
    const deliveries = [...listed.values()].filter((row) => !isSame(row, rows.get(row.id)));
    const removed = [...rows.keys()].filter((id) => !listed.has(id));
    rows = listed;
    const kept = new Set(all.map(({ id }) => id));
    for (const [id, { cleared }] of noted) {
      if (kept.has(id)) continue;
      if (cleared) uncounted += 1;
      noted.delete(id);
    }
    const overview = readOverview();
    // The time of a clock that runs by itself is no change.
    const overviewNow = JSON.stringify({ ...overview, now: clock === 'virtual' && overview.now });
    if (deliveries.length + removed.length > 0 || overviewNow !== overviewSeen) {
      overviewSeen = overviewNow;
      for (const changed of watchers) changed({ overview, deliveries, removed });
    }
    return overview;
  }

  /** Keeps the latest attempt of a delivery. Its advice follows, and the next look has it. */
  function takeIn(note: Noted, attempt: Attempt): void {
    note.latest = attempt;
    note.advice = undefined;
    const keep = (advice: Advice | undefined) => {
      if (note.latest === attempt) note.advice = advice;
    };
    adviceOn(attempt).then(keep, () => {});
  }

  /** The deliveries since the start or the last clear. */
  function countAll(): number {
    return Math.max(rows.size, emulator.totals.deliveries - uncounted - [...noted.values()].filter(isCleared).length);
  }

  function readOverview(): Overview {
    const endpoints = emulator.endpoints.list().map(({ id, url, state, deadInARow }) => {
      return { id, url, state, deadInARow, pausesAfter: PAUSE_AFTER_DEAD };
    });
    const ahead = time.ms > 0 ? { ahead: time.ms } : {};
    const total = countAll();
    return {
      ...{ now: emulator.now() + time.ms, ...ahead, speed: clock === 'virtual' ? 0 : speed, endpoints, failing },
      ...(total > rows.size && { total }),
    };
  }

  /** One that was cleared comes back when it is redelivered. */
  function isListed(delivery: EmulatorDelivery): boolean {
    const note = noteOf(delivery.id);
    note.cleared &&= isEnded(delivery);
    return !note.cleared;
  }

  function toRow(delivery: EmulatorDelivery): DeliveryRow {
    const { latest, advice, replays, duplicates, aheadMs, hasFailed } = noteOf(delivery.id);
    const { createdAt, nextAt, attempts, redeliveries, state } = delivery;
    return {
      ...delivery,
      createdAt: createdAt + aheadMs,
      nextAt: nextAt === undefined ? undefined : nextAt + time.ms,
      ...{ replays: replays.length, duplicates },
      // Earlier attempts may not be kept: only the last one of a delivery is acknowledged.
      hasFailed: hasFailed || attempts > 1 || redeliveries > 0 || state === 'dead',
      ...(latest && { ...outcomeOf(latest), cause: causeOf(latest, advice) }),
      ...(state === 'lost' && { cause: wasAsked(delivery.id) ? 'the app asked for its job' : 'never comes' }),
    };
  }

  /** Says that the first round of a delivery was lost, and what an app can do. */
  function lostText(delivery: EmulatorDelivery): string | undefined {
    if (delivery.state !== 'lost' && !noteOf(delivery.id).wasLost) return undefined;
    const after = wasAsked(delivery.id) ? 'The app has asked the API for its job.' : howToFind(delivery);
    return `The webhook never comes, by the fault never: no attempt is made. ${after}`;
  }

  const attemptsOf = (deliveryId: string) =>
    [...emulator.attempts.list({ deliveryId }), ...(noted.get(deliveryId)?.replays ?? [])].sort(
      (a, b) => a.at + time.before(a) - b.at - time.before(b),
    );

  function find(attemptId: string): Attempt | undefined {
    const seq = Number(attemptId);
    if (seq > 0) return emulator.attempts.list().find((attempt) => attempt.seq === seq);
    return [...noted.values()].flatMap(({ replays }) => replays).find((attempt) => attempt.seq === seq);
  }

  /** Runs an action, and shows its result at once. */
  const doing =
    <Input>(action: (input: Input) => string | Promise<string>) =>
    async (input: Input) => {
      look();
      try {
        return await action(input);
      } finally {
        look();
      }
    };

  const actions = emulatorActions({
    ...{ emulator, time, headerPrefix, faults, secretOf, attemptsOf },
    replayed(deliveryId, again) {
      replayed += 1;
      const attempt = { ...again, seq: -replayed };
      time.before(attempt); // from now on
      const note = noteOf(deliveryId);
      note.replays = [...note.replays, attempt].slice(-MAX_REPLAYS);
      note.hasFailed ||= attempt.outcome !== 'acknowledged';
    },
    failing(count) {
      failing = count;
    },
    clear() {
      const listed = emulator.deliveries.list().filter(isListed);
      const ended = listed.filter(isEnded);
      for (const { id } of ended) noteOf(id).cleared = true;
      uncounted = emulator.totals.deliveries - emulator.deliveries.list().length;
      return { gone: ended.length, left: listed.length - ended.length };
    },
  });

  return {
    title: 'Deliveries to your app · service-webhooks dev',
    get start() {
      const isSent = emulator.endpoints.list().length > 0;
      return { text: isSent ? 'Press “Send a sample”, or type:' : NO_ENDPOINT, command: command() };
    },
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, action]) => [name, doing(action as never)]),
    ) as Actions,
    snapshot() {
      const overview = look();
      return { overview, deliveries: [...rows.values()] };
    },
    watch(changed) {
      watchers.add(changed);
      timer ??= setInterval(look, LOOK_MS).unref();
      return () => {
        watchers.delete(changed);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    delivery(id) {
      const found = emulator.deliveries.get(id);
      if (found === undefined) return undefined;
      const attempts = attemptsOf(id).map((attempt) => toAttemptRow(attempt, time.before(attempt)));
      const offers: DeliveryDetails['offers'][number][] = [];
      if (found.state === 'dead' || found.state === 'lost') offers.push('redeliver');
      if (attempts.length > 0) offers.push('replay');
      const cannotSign = secretOf(found.endpointId) === undefined && NO_SECRET;
      const row = toRow(found);
      const lost = lostText(found);
      return {
        ...{ delivery: row, attempts, waits: RETRY_WAITS_MS, offers },
        ...(lost !== undefined && { lost }),
        ...(cannotSign && { cannotSign }),
      };
    },
    async attempt(id) {
      const found = find(id);
      if (found === undefined) return undefined;
      const secret = secretOf(found.endpointId);
      const advice = await adviceOn(found);
      return toAttemptDetails(found, { secret, advice, headerPrefix, aheadMs: time.before(found) });
    },
    message(id) {
      const found = find(id);
      return found && toMessage(found);
    },
    *attemptTexts(): Iterable<AttemptText> {
      const replays = [...noted.values()].flatMap((note) => note.replays);
      for (const attempt of [...emulator.attempts.list(), ...replays]) {
        for (const text of textsOf(attempt)) yield { delivery: attempt.deliveryId, text };
      }
    },
  };
}

function isCleared({ cleared }: Noted): boolean {
  return cleared;
}

function isEnded({ state }: EmulatorDelivery): boolean {
  return state === 'delivered' || state === 'dead' || state === 'lost';
}

function isSame(row: DeliveryRow, other: DeliveryRow | undefined): boolean {
  if (other === undefined) return false;
  for (const field in row) {
    if (row[field as keyof DeliveryRow] !== other[field as keyof DeliveryRow]) return false;
  }
  return true;
}
