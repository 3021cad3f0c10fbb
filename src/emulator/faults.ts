import { check, checkObject, checkPositiveInteger } from '../check.js';
import { createRandom } from './random.js';

/** How often something goes wrong. */
export interface Fault {
  /** The share of attempts it strikes, from 0 to 1. */
  rate: number;
  /** What decides which; the emulator's own seed. The same seed strikes the same attempts. */
  seed?: string | number | undefined;
  /** It strikes no more than so often; no limit. */
  times?: number | undefined;
}

/** What can go wrong on the way. A number is a rate. */
export interface Faults {
  /** The request is lost: nothing arrives, and the 20 s pass. */
  drop?: number | Fault | undefined;
  /** The answer comes `ms` later (5 000). Over 20 000 it is too late, though the receiver has done its work. */
  delay?: number | (Fault & { ms?: number | undefined }) | undefined;
  /** The same request is sent twice, the second time `afterMs` later (0). The first answer counts. */
  duplicate?: number | (Fault & { afterMs?: number | undefined }) | undefined;
  /** The attempt starts up to `withinMs` late (1 000), so that others overtake it. */
  reorder?: number | (Fault & { withinMs?: number | undefined }) | undefined;
  /** The end of the body is missing, and Content-Length fits what is left. */
  truncate?: number | Fault | undefined;
  /** One bit of the body is another one. */
  corrupt?: number | Fault | undefined;
  /** The body comes in `pieces` (8) over `ms` (5 000). */
  slowBody?: number | (Fault & { ms?: number | undefined; pieces?: number | undefined }) | undefined;
  /** The connection is reset in the middle of the request, or when the answer comes; by default either. */
  reset?: number | (Fault & { at?: 'request' | 'answer' | undefined }) | undefined;
}

export type FaultName = keyof Faults;

/** What goes wrong with one attempt. */
export interface FaultPlan {
  /** Which faults strike. */
  readonly names: readonly FaultName[];
  readonly drop: boolean;
  readonly delayMs: number;
  readonly duplicateAfterMs: number | undefined;
  readonly holdMs: number;
  readonly slow: { ms: number; pieces: number } | undefined;
  readonly reset: 'request' | 'answer' | undefined;
  /** The body as it is sent. */
  damage(body: Uint8Array): Uint8Array;
}

/** Which attempt: the number of the delivery, how often it was redelivered, the number of the attempt. */
export type AttemptPlace = readonly [delivery: number, redelivery: number, attempt: number];

/** Of each fault the amounts that can be set, with their defaults. */
const AMOUNTS = {
  drop: {},
  delay: { ms: 5_000 },
  duplicate: { afterMs: 0 },
  reorder: { withinMs: 1_000 },
  truncate: {},
  corrupt: {},
  slowBody: { ms: 5_000, pieces: 8 },
  reset: {},
} as const satisfies Record<FaultName, Record<string, number>>;

const NAMES = Object.keys(AMOUNTS) as FaultName[];

/** @throws WebhookError `invalid_option` */
export function createFaults(faults: Faults, seed: string): (...place: AttemptPlace) => FaultPlan {
  checkObject('faults', faults);
  for (const name of Object.keys(faults)) check(Object.hasOwn(AMOUNTS, name), `faults.${name} is no fault`);
  const entries = NAMES.map((name) => [name, createStriker(name, faults[name], seed)]);
  const strikers = Object.fromEntries(entries) as Record<FaultName, Striker>;
  const amount = (name: FaultName, field: string) => strikers[name].amounts[field] ?? 0;
  const at = typeof faults.reset === 'object' ? faults.reset.at : undefined;
  check([undefined, 'request', 'answer'].includes(at), 'faults.reset.at must be request or answer');

  return (...place) => {
    const names = NAMES.filter((name) => strikers[name].strikes(place));
    const has = (name: FaultName) => names.includes(name);
    const draw = (name: FaultName) => strikers[name].draw('how', place);
    return {
      names,
      drop: has('drop'),
      delayMs: has('delay') ? amount('delay', 'ms') : 0,
      duplicateAfterMs: has('duplicate') ? amount('duplicate', 'afterMs') : undefined,
      holdMs: has('reorder') ? Math.ceil(draw('reorder') * amount('reorder', 'withinMs')) : 0,
      slow: has('slowBody') ? { ms: amount('slowBody', 'ms'), pieces: amount('slowBody', 'pieces') } : undefined,
      reset: has('reset') ? (at ?? (draw('reset') < 0.5 ? 'request' : 'answer')) : undefined,
      damage(body) {
        const whole = has('corrupt') ? flipBit(body, draw('corrupt')) : body;
        return has('truncate') ? whole.subarray(0, Math.floor(draw('truncate') * whole.length)) : whole;
      },
    };
  };
}

interface Striker {
  readonly amounts: Readonly<Record<string, number>>;
  strikes(place: AttemptPlace): boolean;
  draw(purpose: string, place: AttemptPlace): number;
}

function createStriker(name: FaultName, given: number | Fault = 0, defaultSeed: string): Striker {
  const fault: Fault = typeof given === 'object' && given !== null ? given : { rate: given };
  const isRate = Number.isFinite(fault.rate) && fault.rate >= 0 && fault.rate <= 1;
  check(isRate, `faults.${name}.rate must be from 0 to 1`);
  if (fault.times !== undefined) checkPositiveInteger(`faults.${name}.times`, fault.times);
  const random = createRandom(String(fault.seed ?? defaultSeed));
  let left = fault.times ?? Number.POSITIVE_INFINITY;
  const draw = (purpose: string, place: AttemptPlace) => random.number(name, purpose, ...place);
  return {
    amounts: readAmounts(name, fault),
    strikes(place) {
      if (fault.rate === 0 || left === 0 || draw('whether', place) >= fault.rate) return false;
      left -= 1;
      return true;
    },
    draw,
  };
}

function readAmounts(name: FaultName, fault: object): Record<string, number> {
  const amounts: Record<string, number> = { ...AMOUNTS[name] };
  for (const field of Object.keys(amounts)) {
    const given: unknown = (fault as Record<string, unknown>)[field];
    if (given === undefined) continue;
    if (field === 'pieces') checkPositiveInteger(`faults.${name}.pieces`, given);
    check(Number.isFinite(given) && (given as number) >= 0, `faults.${name}.${field} must be 0 or more`);
    amounts[field] = given as number;
  }
  return amounts;
}

function flipBit(body: Uint8Array, where: number): Uint8Array {
  const flipped = new Uint8Array(body);
  const bit = Math.floor(where * body.length * 8);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7)); // nothing, in an empty body
  return flipped;
}
