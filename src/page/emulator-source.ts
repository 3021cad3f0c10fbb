import { check, checkPositiveInteger } from '../check.js';
import {
  type Attempt,
  type Emulator,
  type EmulatorDelivery,
  type Faults,
  PAUSE_AFTER_DEAD,
  RETRY_WAITS_MS,
} from '../emulator/index.js';
import type { Secret } from '../secret.js';
import { createDiffer } from './differ.js';
import type { Actions, Change, DeliveryDetails, DeliveryRow, Overview, PageSource } from './page-source.js';
import { replay } from './replay.js';
import { outcomeOf, toAttemptDetails, toAttemptRow } from './show-attempt.js';

export interface EmulatorSourceOptions {
  emulator: Emulator;
  /** As the emulator's. */
  clock: 'virtual' | 'real';
  /** As the emulator's; 1. */
  speed?: number | undefined;
  /** As the emulator's; `x-service`. */
  headerPrefix?: string | undefined;
  /** The faults that strike without the page's doing. */
  faults?: Faults | undefined;
  /** The signing secret of an endpoint, as `endpoints.create` gave it: the emulator shows it once. */
  secretOf(endpointId: string): Secret | undefined;
}

/** How often the emulator is looked at, while anyone looks at the page. */
const LOOK_MS = 100;
/** Of one delivery; those before are forgotten. */
const MAX_REPLAYS = 100;

/** The deliveries of an emulator. */
export function emulatorSource(options: EmulatorSourceOptions): PageSource {
  const { emulator, clock, speed = 1, headerPrefix = 'x-service', faults = {}, secretOf } = options;
  const watchers = new Set<(change: Change) => void>();
  const differ = createDiffer();
  /** Of each delivery the latest attempt, and the replays. */
  const latest = new Map<string, Attempt>();
  const replays = new Map<string, Attempt[]>();
  let replayed = 0;
  let failing = 0;
  let seen = 0;
  let overviewSeen = '';
  let timer: NodeJS.Timeout | undefined;

  /** Takes in what has happened since the last look, and tells the watchers. */
  function look(): Overview {
    const attempts = emulator.attempts.list();
    for (const attempt of attempts.slice(attempts.findLastIndex(({ seq }) => seq <= seen) + 1)) {
      seen = attempt.seq;
      if (!attempt.duplicate) latest.set(attempt.deliveryId, attempt);
      if (failing > 0 && attempt.faults.includes('reset') && --failing === 0) emulator.setFaults(faults);
    }
    const { deliveries, removed } = differ.see(emulator.deliveries.list().map(toRow));
    for (const id of removed) {
      latest.delete(id);
      replays.delete(id);
    }
    const overview = readOverview();
    // A clock that runs by itself is no change.
    const overviewNow = JSON.stringify({ ...overview, now: clock === 'virtual' && overview.now });
    if (deliveries.length + removed.length > 0 || overviewNow !== overviewSeen) {
      overviewSeen = overviewNow;
      for (const changed of watchers) changed({ overview, deliveries, removed });
    }
    return overview;
  }

  function readOverview(): Overview {
    const endpoints = emulator.endpoints.list().map(({ id, url, state, deadInARow }) => {
      return { id, url, state, deadInARow, pausesAfter: PAUSE_AFTER_DEAD };
    });
    return { now: emulator.now(), speed: clock === 'virtual' ? 0 : speed, endpoints, failing };
  }

  function toRow(delivery: EmulatorDelivery): DeliveryRow {
    const attempt = latest.get(delivery.id);
    return { ...delivery, replays: replays.get(delivery.id)?.length ?? 0, ...(attempt && outcomeOf(attempt)) };
  }

  const attemptsOf = (deliveryId: string) =>
    [...emulator.attempts.list({ deliveryId }), ...(replays.get(deliveryId) ?? [])].sort((a, b) => a.at - b.at);

  /** Does something, and shows at once what has come of it. */
  const doing =
    <Input>(action: (input: Input) => string | Promise<string>) =>
    async (input: Input) => {
      try {
        return await action(input);
      } finally {
        look();
      }
    };

  const actions: Actions = {
    redeliver: doing(({ delivery }) => `${emulator.deliveries.redeliver(delivery).eventId} starts again.`),
    replay: doing(async ({ delivery, exact }) => {
      const last = attemptsOf(delivery).findLast(({ duplicate }) => !duplicate);
      check(last !== undefined, 'there is no attempt of it that could be sent again');
      const secret = secretOf(last.endpointId);
      check(exact || secret !== undefined, 'its secret is not known here: send it as it was');
      const again = await replay(last, { secret: exact ? undefined : secret, headerPrefix, now: emulator.now });
      replayed += 1;
      replays.set(delivery, [...(replays.get(delivery) ?? []), { ...again, seq: -replayed }].slice(-MAX_REPLAYS));
      const { status, problem } = outcomeOf(again);
      return `${again.eventId} was sent again: ${problem ?? status}.`;
    }),
    send: doing(async ({ type }) => {
      const { deliveries } = await emulator.emit(type);
      return deliveries.length === 0 ? `No endpoint has subscribed to ${type}.` : `${type} is on its way.`;
    }),
    failNext: doing(({ count }) => {
      checkPositiveInteger('count', count);
      emulator.setFaults({ ...faults, reset: { rate: 1, times: count, at: 'request' } });
      failing = count;
      return `The next ${count === 1 ? 'request fails' : `${count} requests fail`}: the connection is reset.`;
    }),
    pause: doing(({ endpoint }) => {
      emulator.endpoints.pause(endpoint);
      return 'The endpoint is paused.';
    }),
    enable: doing(({ endpoint }) => {
      emulator.endpoints.enable(endpoint);
      return 'The endpoint is active.';
    }),
    advance: doing(async ({ ms }) => {
      await emulator.advance(ms);
      return 'The time has passed.';
    }),
  };

  return {
    title: 'Deliveries of the emulator',
    actions,
    snapshot() {
      const overview = look();
      return { overview, deliveries: [...differ.rows] };
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
      const attempts = attemptsOf(id);
      const offers: DeliveryDetails['offers'][number][] = [];
      if (found.state === 'dead') offers.push('redeliver');
      if (attempts.length > 0) offers.push('replay');
      return { delivery: toRow(found), attempts: attempts.map(toAttemptRow), waits: RETRY_WAITS_MS, offers };
    },
    attempt(id) {
      const all = [...emulator.attempts.list(), ...[...replays.values()].flat()];
      const found = all.find(({ seq }) => String(seq) === id);
      return found && toAttemptDetails(found, secretOf(found.endpointId), headerPrefix);
    },
  };
}
