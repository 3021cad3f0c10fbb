import type { Receiver, WebhookResponse } from 'service-webhooks';
import { MAX_ATTEMPTS } from 'service-webhooks/service';
import type { SimulatedProcess } from './processes.js';
import type { WorldRecord } from './record.js';
import type { BrokenWorldRule } from './rules.js';
import type { VirtualTime } from './virtual-time.js';

/** What a receiver has answered since its last acceptance, counted apart from its own health. */
interface Answers {
  lastAcceptedAt: number;
  refusals: number;
  lastRefusedAt: number;
  failures: number;
  lastFailedAt: number;
  dead: number;
  lastDeadAt: number;
}

/** A receiver whose answers are counted. */
export interface CountedReceiver {
  readonly process: SimulatedProcess;
  readonly receiver: Receiver;
  readonly answers: Readonly<Answers>;
}

export function countAnswers(receiver: Receiver, process: SimulatedProcess): CountedReceiver {
  const answers = {
    lastAcceptedAt: 0,
    refusals: 0,
    lastRefusedAt: 0,
    failures: 0,
    lastFailedAt: 0,
    dead: 0,
    lastDeadAt: 0,
  };

  function count({ status }: WebhookResponse, attempt: number): void {
    const now = Date.now();
    if (status < 300) Object.assign(answers, { lastAcceptedAt: now, refusals: 0, failures: 0, dead: 0 });
    else if (status >= 500) Object.assign(answers, { failures: answers.failures + 1, lastFailedAt: now });
    else if (status !== 409) Object.assign(answers, { refusals: answers.refusals + 1, lastRefusedAt: now });
    if (status >= 500 && attempt === MAX_ATTEMPTS) Object.assign(answers, { dead: answers.dead + 1, lastDeadAt: now });
  }

  const receive = async (request: Parameters<Receiver>[0]): Promise<WebhookResponse> => {
    const response = await receiver(request);
    count(response, Number((request.headers as Headers).get('x-service-attempt')));
    return response;
  };
  return { process, receiver: Object.assign(receive, receiver), answers };
}

/** Asks each receiver for its health, and returns how one of them differs from what the receivers have answered. */
export async function findWrongHealth(
  receivers: readonly CountedReceiver[],
  { time, record }: { time: VirtualTime; record: WorldRecord },
): Promise<BrokenWorldRule | undefined> {
  const read = () => time.resultOf(Promise.all(receivers.map(({ process, receiver }) => process.run(receiver.health))));
  await read(); // each receiver reports itself, so that the others know of it
  for (const [i, health] of (await read()).entries()) {
    const asked = receivers[i] as CountedReceiver;
    // A store that shares no reports tells a receiver of itself alone.
    const counted = health.receivers === 1 ? [asked] : receivers;
    // Two answers in one millisecond may have come in either order.
    const [expected, or] = [addedUp(counted, record, isAfter), addedUp(counted, record, isNotBefore)];
    const names = Object.keys(expected) as (keyof typeof expected)[];
    const wrong = names.find((name) => health[name] !== expected[name] && health[name] !== or[name]);
    if (wrong === undefined) continue;
    const found = `health() of ${asked.process.name} has ${health[wrong]} as ${wrong}`;
    return { rule: 'health', what: `${found}, and the answers of the receivers add up to ${expected[wrong]}` };
  }
  return undefined;
}

type Order = (at: number, lastAcceptedAt: number) => boolean;
const isAfter: Order = (at, lastAcceptedAt) => at > lastAcceptedAt;
const isNotBefore: Order = (at, lastAcceptedAt) => at >= lastAcceptedAt;

/** Returns the health that the answers of receivers add up to. */
function addedUp(receivers: readonly CountedReceiver[], { works }: WorldRecord, isSince: Order) {
  const lastAcceptedAt = Math.max(...receivers.map(({ answers }) => answers.lastAcceptedAt));
  const sum = (count: (answers: Answers) => number) => receivers.reduce((total, one) => total + count(one.answers), 0);
  const since = (at: number, count: number) => (isSince(at, lastAcceptedAt) ? count : 0);
  const names = receivers.map(({ process }) => process.name);
  return {
    receivers: receivers.length,
    lastAcceptedAt: lastAcceptedAt || undefined,
    refusalsInARow: sum(({ lastRefusedAt, refusals }) => since(lastRefusedAt, refusals)),
    failuresInARow: sum(({ lastFailedAt, failures }) => since(lastFailedAt, failures)),
    deadInARowEstimate: sum(({ lastDeadAt, dead }) => since(lastDeadAt, dead)),
    inProgress: works.filter(({ process, ended }) => ended === undefined && names.includes(process)).length,
  };
}
