import { Failure } from '../../failure.js';
import type { SampleEvent } from './events-in.js';
import { skeletonOf } from './skeleton.js';

/** What was kept of the deliveries of one event type. */
export interface Samples {
  /** The different skeletons of `data` as JSON, in an order that does not depend on that of the deliveries. */
  texts: readonly string[];
  /** How many deliveries there were; several attempts of one are one. */
  deliveries: number;
}

/** So much is kept, in characters of JSON. Deliveries of usual services are far below. */
const MAX_KEPT = 32 * 1024 * 1024;

/** Collects the skeletons of events by their types. No value of an event is kept, but its id. */
export function eventSamples() {
  let size = 0;
  const kept = new Map<string, { texts: Set<string>; ids: Set<string>; withoutId: number }>();
  return {
    /** @throws Failure where more would have to be kept than the memory may have */
    add({ id, type, data }: SampleEvent): void {
      const samples = kept.get(type) ?? { texts: new Set(), ids: new Set(), withoutId: 0 };
      kept.set(type, samples);
      const text = JSON.stringify(skeletonOf(data));
      if (!samples.texts.has(text)) size += text.length;
      if (size > MAX_KEPT)
        throw new Failure('usage', 'these deliveries differ too much for one run: name fewer of them.');
      samples.texts.add(text);
      if (typeof id === 'string') samples.ids.add(id);
      else samples.withoutId += 1;
    },
    all(): Map<string, Samples> {
      return new Map(
        [...kept].map(([type, { texts, ids, withoutId }]) => [
          type,
          { texts: [...texts].sort(), deliveries: ids.size + withoutId },
        ]),
      );
    },
  };
}
