import { check, checkKnownOptions, checkObject, checkPositiveInteger } from 'service-webhooks/option-checks';
import { createRandom } from './random.js';

/** How often a fault occurs. It counts attempts; `never` counts deliveries. */
export interface Fault {
  /** The share of attempts in which the fault occurs, from 0 to 1. */
  rate: number;
  /** The seed of the fault: the same seed selects the same attempts. Default: the emulator's seed. */
  seed?: string | number | undefined;
  /** The largest number of attempts in which the fault occurs. Default: no limit. */
  times?: number | undefined;
}

/** The faults that occur in deliveries. A number is a rate from 0 to 1. */
export interface Faults {
  /**
   * The sender loses the delivery: no attempt is made, and none follows. It is decided when the event is emitted. The
   * delivery is `lost`, and `deliveries.redeliver` sends it after all.
   */
  never?: number | Fault | undefined;
  /** The request is lost: the receiver gets nothing, and the attempt fails after 20 s. */
  drop?: number | Fault | undefined;
  /**
   * The answer arrives `ms` later. Default: 5 000. Over 20 000 the attempt fails although the receiver has done its
   * work.
   */
  delay?: number | (Fault & { ms?: number | undefined }) | undefined;
  /** The same request is sent twice, the second time `afterMs` later. Default: 0. The first answer counts. */
  duplicate?: number | (Fault & { afterMs?: number | undefined }) | undefined;
  /** The attempt starts up to `withinMs` late, so that others overtake it. Default: 1 000. */
  reorder?: number | (Fault & { withinMs?: number | undefined }) | undefined;
  /** The end of the body is cut off. Content-Length matches the rest. */
  truncate?: number | Fault | undefined;
  /** One bit of the body is flipped. */
  corrupt?: number | Fault | undefined;
  /** The body arrives in `pieces` over `ms`. Defaults: 8 and 5 000. */
  slowBody?: number | (Fault & { ms?: number | undefined; pieces?: number | undefined }) | undefined;
  /** The connection is reset in the middle of the request, or when the answer arrives. Default: either, at random. */
  reset?: number | (Fault & { at?: 'request' | 'answer' | undefined }) | undefined;
}

/** The name of a fault: a key of {@link Faults}. */
export type FaultName = keyof Faults;

/** The faults of one attempt. */
export interface FaultPlan {
  readonly names: readonly FaultName[];
  readonly drop: boolean;
  readonly delayMs: number;
  readonly duplicateAfterMs: number | undefined;
  readonly holdMs: number;
  readonly slow: { ms: number; pieces: number } | undefined;
  readonly reset: 'request' | 'answer' | undefined;
  /** Returns the body to send. */
  damage(body: Uint8Array): Uint8Array;
}

/** Identifies an attempt: the number of its delivery, how often that was redelivered, the number of the attempt. */
export type AttemptPlace = readonly [delivery: number, redelivery: number, attempt: number];

/**
 * The names of all faults, in the order in which an attempt lists them. `never` is in no attempt: there is none.
 *
 * @example
 * const faults: Faults = Object.fromEntries(FAULT_NAMES.map((name) => [name, 0.1])); // each in a tenth of the attempts
 * const emulator = createEmulator({ faults });
 */
export const FAULT_NAMES = [
  'never',
  'drop',
  'delay',
  'duplicate',
  'reorder',
  'truncate',
  'corrupt',
  'slowBody',
  'reset',
] as const;

/** The faults of one emulator. */
export interface FaultPlans {
  /** Returns whether the sender loses a delivery, by its number. */
  loses(delivery: number): boolean;
  /** Returns the faults of an attempt. */
  planOf(...place: AttemptPlace): FaultPlan;
}

/** @throws WebhookError `invalid_option` */
export function createFaults(faults: Faults, seed: string): FaultPlans {
  checkObject('faults', faults);
  checkKnownOptions('faults', faults, FAULT_NAMES);
  const never = createStriker('never', faults.never, seed, {});
  const drop = createStriker('drop', faults.drop, seed, {});
  const delay = createStriker('delay', faults.delay, seed, { ms: 5_000 });
  const duplicate = createStriker('duplicate', faults.duplicate, seed, { afterMs: 0 });
  const reorder = createStriker('reorder', faults.reorder, seed, { withinMs: 1_000 });
  const truncate = createStriker('truncate', faults.truncate, seed, {});
  const corrupt = createStriker('corrupt', faults.corrupt, seed, {});
  const slowBody = createStriker('slowBody', faults.slowBody, seed, { ms: 5_000, pieces: 8 });
  const reset = createStriker('reset', faults.reset, seed, {}, ['at']);
  const strikers = { drop, delay, duplicate, reorder, truncate, corrupt, slowBody, reset };

  const at = typeof faults.reset === 'object' ? faults.reset.at : undefined;
  check([undefined, 'request', 'answer'].includes(at), 'faults.reset.at must be request or answer');
  checkPositiveInteger('faults.slowBody.pieces', slowBody.amounts.pieces);

  function planOf(...place: AttemptPlace): FaultPlan {
    const names = FAULT_NAMES.filter((name) => name !== 'never' && strikers[name].strikes(place));
    const has = (name: FaultName) => names.includes(name);
    return {
      names,
      drop: has('drop'),
      delayMs: has('delay') ? delay.amounts.ms : 0,
      duplicateAfterMs: has('duplicate') ? duplicate.amounts.afterMs : undefined,
      holdMs: has('reorder') ? Math.ceil(reorder.draw(place) * reorder.amounts.withinMs) : 0,
      slow: has('slowBody') ? { ...slowBody.amounts } : undefined,
      reset: has('reset') ? (at ?? (reset.draw(place) < 0.5 ? 'request' : 'answer')) : undefined,
      damage(body) {
        const whole = has('corrupt') ? flipBit(body, corrupt.draw(place)) : body;
        return has('truncate') ? whole.subarray(0, Math.floor(truncate.draw(place) * whole.length)) : whole;
      },
    };
  }

  return { loses: (delivery) => never.strikes([delivery]), planOf };
}

/** An attempt, or a delivery as a whole. */
type Place = AttemptPlace | readonly [delivery: number];

interface Striker<Amount extends string> {
  readonly amounts: Readonly<Record<Amount, number>>;
  /** Returns whether the fault occurs at a place. */
  strikes(place: Place): boolean;
  /** Returns a number from 0 up to 1 that decides the details of the fault. */
  draw(place: Place): number;
}

function createStriker<Amount extends string>(
  name: FaultName,
  given: number | Fault = 0,
  defaultSeed: string,
  defaults: Readonly<Record<Amount, number>>,
  others: readonly string[] = [],
): Striker<Amount> {
  const fault: Fault = typeof given === 'object' && given !== null ? given : { rate: given };
  checkKnownOptions(`faults.${name}`, fault, ['rate', 'seed', 'times', ...Object.keys(defaults), ...others]);
  const { rate, times } = fault;
  check(Number.isFinite(rate) && rate >= 0 && rate <= 1, `faults.${name}.rate must be from 0 to 1`);
  if (times !== undefined) checkPositiveInteger(`faults.${name}.times`, times);
  const random = createRandom(String(fault.seed ?? defaultSeed));
  let left = times ?? Number.POSITIVE_INFINITY;
  return {
    amounts: readAmounts(name, fault, defaults),
    strikes(place) {
      if (rate === 0 || left === 0 || random.number(name, 'whether', ...place) >= rate) return false;
      left -= 1;
      return true;
    },
    draw: (place) => random.number(name, 'how', ...place),
  };
}

function readAmounts<Amount extends string>(
  name: FaultName,
  fault: object,
  defaults: { readonly [A in Amount]: number },
): { [A in Amount]: number } {
  const amounts: { [A in Amount]: number } = { ...defaults };
  for (const field in defaults) {
    const { [field]: value = defaults[field] } = fault as Partial<typeof amounts>;
    check(Number.isFinite(value) && value >= 0, `faults.${name}.${field} must be 0 or more`);
    amounts[field] = value;
  }
  return amounts;
}

function flipBit(body: Uint8Array, where: number): Uint8Array {
  const flipped = new Uint8Array(body);
  const bit = Math.floor(where * body.length * 8);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)); // an empty body has no bit to flip
  return flipped;
}
