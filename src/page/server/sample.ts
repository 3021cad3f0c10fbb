import { WEBHOOK_EVENT_TYPES } from '../../event.js';
import { sampleEvent } from '../../testing/sample-event.js';

/** Returns the sample of a type as JSON to edit, without what is new in each event. Undefined for an unknown type. */
export function sampleOf(name: string): { json: string } | undefined {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === name);
  if (type === undefined) return undefined;
  const { id, timestamp, ...sample } = sampleEvent(type, { id: 'evt_sample' });
  return { json: JSON.stringify(sample, null, 2) };
}
