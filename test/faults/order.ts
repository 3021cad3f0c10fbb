import type { Operation } from './history.js';
import { ABSENT, apply, either, type Instant, type Row } from './row.js';

/** How things may stand: what a store may hold, and which of the running operations have taken effect on it. */
interface World {
  row: Row;
  applied: ReadonlySet<Operation>;
  /** No effect that is still to come is earlier. */
  now: number;
}

type Worlds = Map<string, World>;

/**
 * Whether the operations on one key can have taken effect one after the other, each at an instant between its
 * invocation and its answer, so that every answer is that of a right store. Says where they cannot.
 *
 * It follows all possible worlds through the history. An operation has to have taken effect when it is answered; worlds
 * in which it cannot are given up. Worlds that differ in nothing but times become one.
 */
export function findDisorder(operations: readonly Operation[]): Operation | undefined {
  const running = new Set<Operation>();
  let worlds: Worlds = new Map();
  add(worlds, { row: ABSENT, applied: new Set(), now: Number.NEGATIVE_INFINITY });

  for (const { operation, isAnswer } of eventsOf(operations)) {
    if (!isAnswer) {
      running.add(operation);
      worlds = rebuilt([...worlds.values()].map((world) => readAhead(world, [operation])));
      continue;
    }
    const after = worldsWith(worlds, operation, running);
    if (after.length === 0) return operation;
    running.delete(operation);
    worlds = rebuilt(after.map((world) => ({ ...world, applied: without(world.applied, operation) })));
  }
  return undefined;
}

/** What happened, in its order. The order of two things at one instant is not known, so operations overlap there. */
function eventsOf(operations: readonly Operation[]) {
  const events = operations.flatMap((operation) => [
    { operation, at: operation.invoked, isAnswer: false },
    ...(operation.answered < Number.POSITIVE_INFINITY ? [{ operation, at: operation.answered, isAnswer: true }] : []),
  ]);
  return events.sort((a, b) => a.at - b.at || Number(a.isAnswer) - Number(b.isAnswer));
}

/** The worlds in which an operation has taken effect by its answer. One that failed may have had none. */
function worldsWith(worlds: Worlds, answered: Operation, running: ReadonlySet<Operation>): World[] {
  const found: World[] = answered.answer === undefined ? [...worlds.values()] : [];
  const reached: Worlds = new Map(worlds);
  const open = [...worlds.keys()];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const world = reached.get(id) as World;
    if (world.applied.has(answered)) {
      found.push(world);
      continue;
    }
    for (const operation of running) {
      if (world.applied.has(operation)) continue;
      const earliest = Math.max(world.now, operation.invoked);
      const when: Instant = { earliest, latest: Math.min(operation.answered, answered.answered) };
      for (const row of apply(world.row, operation, when)) {
        const next = { row, applied: new Set([...world.applied, operation]), now: earliest };
        const added = add(reached, readAhead(next, running));
        if (added !== undefined) open.push(added);
      }
    }
  }
  return found;
}

/** Operations that change nothing take effect at once: that rules nothing out, and saves trying all their orders. */
function readAhead(world: World, operations: Iterable<Operation>): World {
  const { row, applied, now } = world;
  const reads = [...operations].filter((operation) => {
    // One without an answer may still have an effect, as soon as the row is free.
    if (applied.has(operation) || operation.answer === undefined) return false;
    const when = { earliest: Math.max(now, operation.invoked), latest: operation.answered };
    const rows = apply(row, operation, when);
    return rows.length === 1 && rows[0] === row;
  });
  return reads.length === 0 ? world : { ...world, applied: new Set([...applied, ...reads]) };
}

function rebuilt(list: readonly World[]): Worlds {
  const worlds: Worlds = new Map();
  for (const world of list) add(worlds, world);
  return worlds;
}

/** Under what it differs by from others. Undefined where that says nothing new. */
function add(worlds: Worlds, world: World): string | undefined {
  const { state, token, fence, isFenceKnown, attempt, seen } = world.row;
  const applied = [...world.applied].map(({ client, invoked }) => `${client}@${invoked}`).sort();
  const id = [state, token, fence, isFenceKnown, attempt, seen.fingerprint, ...applied].join(' ');
  const known = worlds.get(id);
  if (known === undefined) {
    worlds.set(id, world);
    return id;
  }
  const leaseUntil = either(known.row.leaseUntil, world.row.leaseUntil);
  const expiresAt = either(known.row.expiresAt, world.row.expiresAt);
  const now = Math.min(known.now, world.now);
  const isNew = now < known.now || isWider(leaseUntil, known.row.leaseUntil) || isWider(expiresAt, known.row.expiresAt);
  if (!isNew) return undefined;
  worlds.set(id, { ...known, now, row: { ...known.row, leaseUntil, expiresAt } });
  return id;
}

function isWider(one: Instant, other: Instant): boolean {
  return one.earliest < other.earliest || one.latest > other.latest;
}

function without(operations: ReadonlySet<Operation>, one: Operation): ReadonlySet<Operation> {
  const rest = new Set(operations);
  rest.delete(one);
  return rest;
}
