import { type EventType, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { Failure } from '../../failure.js';
import type { Session } from '../../session.js';
import { eventSamples, type Samples } from './event-samples.js';
import { findRecords } from './find-records.js';
import { inferShape } from './infer-shape.js';
import { isAtPath } from './is-at-path.js';
import { markRecords } from './mark-records.js';
import { HOW_TO_CAPTURE, type ReadResult, readEvents, readQueuedEvents } from './read-events.js';
import type { Shape } from './shape.js';
import type { Skeleton } from './skeleton.js';

/** What deliveries have shown of the fields of `data`. */
export interface LearnedTypes {
  shapes: ReadonlyMap<EventType, Shape>;
  /** How many deliveries of each type there were; several attempts of one are one. */
  types: readonly TypeCount[];
  /** The same of types that this version does not know. */
  unknownTypes: readonly TypeCount[];
  /** The objects whose keys are data, by their paths. */
  records: readonly { type: EventType; path: string }[];
  /** The named paths at which no delivery has an object. */
  missing: readonly string[];
  read: ReadResult;
}

export interface TypeCount {
  type: string;
  deliveries: number;
}

/** Where deliveries are: the options of a queue, none of them for captures; and the named paths of `--record`. */
interface LearnOptions {
  place: object;
  named: readonly string[];
}

/** Reads deliveries and infers the shape of the `data` of each event type. @throws Failure */
export async function learnTypes(
  session: Session,
  names: readonly string[],
  { place, named }: LearnOptions,
): Promise<LearnedTypes> {
  const samplesOf = eventSamples();
  const isQueue = Object.keys(place).length > 0;
  if (isQueue && names.length > 0) throw new Failure('usage', 'name captures or a queue: both together are not read.');
  const read = isQueue
    ? await readQueuedEvents(session, place, samplesOf.add)
    : await readEvents(session, names, samplesOf.add);
  const all = samplesOf.all();
  const known = WEBHOOK_EVENT_TYPES.filter((type) => all.has(type));
  if (known.length === 0) throw noEvent(all, isQueue);

  const paths = namedPaths(named);
  const shapes = new Map<EventType, Shape>();
  const records: { type: EventType; path: string }[] = [];
  for (const type of known) {
    session.signal.throwIfAborted();
    const samples = (all.get(type) as Samples).texts.map((text): Skeleton => JSON.parse(text));
    const found = findRecords(samples, paths.has);
    const marked = new Set(samples.map((sample) => JSON.stringify(markRecords(sample, found))));
    shapes.set(type, await inferShape([...marked].sort()));
    records.push(...[...found].sort().map((path) => ({ type, path })));
  }
  const counts = [...all].map(([type, { deliveries }]) => ({ type, deliveries }));
  const isKnown = ({ type }: TypeCount) => (known as string[]).includes(type);
  const types = known.flatMap((type) => counts.filter((count) => count.type === type));
  const unknownTypes = counts.filter((count) => !isKnown(count)).sort((a, b) => (a.type < b.type ? -1 : 1));
  return { shapes, types, unknownTypes, records, missing: paths.missing(), read };
}

function noEvent({ size }: ReadonlyMap<string, unknown>, isQueue: boolean): Failure {
  const where = isQueue ? 'the dead letters of the queue' : 'the captures';
  const what = size > 0 ? 'an event of a type that this version knows' : 'an event';
  return new Failure('file', `none of ${where} has ${what}. ${HOW_TO_CAPTURE}`);
}

/** The paths that are named, and which of them nothing was found at. */
function namedPaths(named: readonly string[]) {
  const found = new Set<string>();
  const has = (path: string) => {
    const wanted = named.filter((one) => isAtPath(one, path));
    for (const one of wanted) found.add(one);
    return wanted.length > 0;
  };
  return { has, missing: () => named.filter((path) => !found.has(path)) };
}
