import type { DedupeStore } from 'service-webhooks';
import type { Call, Operation, Recorder } from './history.js';
import { pick, type Random } from './random.js';

/** A client that claims, extends, completes and releases at random, and often forgets what it has claimed. */
export interface ClientOptions {
  name: string;
  store: DedupeStore;
  random: Random;
  /** The clock of the history. */
  now(): number;
  record: Recorder;
  /** The keys that all clients are busy with at the moment. */
  keys(): readonly string[];
  /** Between two operations. */
  pause(): Promise<void>;
}

/** A claim that was made. To forget it is what a crash comes to. */
type Claimed = Pick<Call, 'key' | 'token' | 'seen'> & { fence: number };

const LEASES_MS = [1, 3, 10, 30];
/** The longest of them. */
export const LONGEST_LEASE_MS = 30;
/** Some keys are remembered only so long, so that their rows expire. */
const SHORT_MS = 40;
const HOUR = 3_600_000;

const EPOCH_MS = 60;

/** All clients are busy with the same few keys at the same time. */
export function keysAt(ms: number): string[] {
  const epoch = Math.floor(ms / EPOCH_MS);
  return [`${epoch}-a`, `${epoch}-b`, `${epoch}-short`];
}

const retentionOf = (key: string): number => (key.endsWith('-short') ? SHORT_MS : HOUR);

/** So many operations, one after the other. */
export async function runClient(options: ClientOptions, operations: number): Promise<void> {
  const { name, random, keys, pause } = options;
  const claims: Claimed[] = [];
  let made = 0;

  for (let done = 0; done < operations; done += 1) {
    await pause();
    const key = pick(random, keys());
    const claimed = pick(random, random() < 0.7 ? claims.filter((one) => one.key === key) : claims);
    const dice = random();
    if (claimed === undefined || dice < 0.45) {
      made += 1;
      await claim({ key, token: `${name}.${made}`, seen: { fingerprint: `f${name}.${made}`, alias: `a${made}` } });
    } else if (dice < 0.55) {
      await claim(claimed);
    } else {
      const kind = dice < 0.72 ? 'extend' : dice < 0.92 ? 'release' : 'complete';
      await call(options, kind, { ...claimed, leaseMs: pick(random, LEASES_MS) });
    }
  }

  async function claim(wanted: Omit<Claimed, 'fence'>): Promise<void> {
    const answer = await call(options, 'claim', { ...wanted, fence: undefined, leaseMs: pick(random, LEASES_MS) });
    if (typeof answer !== 'object' || answer.status !== 'acquired') return;
    claims.push({ ...wanted, fence: answer.fence });
    if (claims.length > 30) claims.shift();
  }
}

/** One operation, written down. A store that fails is a part of the history. */
export async function call(
  { name, store, now, record }: Pick<ClientOptions, 'name' | 'store' | 'now' | 'record'>,
  kind: Call['kind'],
  what: Pick<Call, 'key' | 'token' | 'seen' | 'fence' | 'leaseMs'>,
): Promise<Operation['answer']> {
  const { key, token, seen, fence = 0, leaseMs } = what;
  const retainMs = retentionOf(key);
  const answered = record({ client: name, kind, key, token, seen, fence, leaseMs, retainMs, invoked: now() });
  const request = { key, token, ...seen, fence, leaseMs, retainMs };
  try {
    const answer = await (kind === 'claim' ? store.claim(request) : store[kind](request, request));
    answered(now(), answer);
    return answer;
  } catch {
    return undefined; // there is no end to write down: the server may still apply it
  }
}
