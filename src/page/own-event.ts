import { DATA_FIELDS, ENVELOPE_FIELDS, type Envelope, type EventType, faultyFields } from '../event.js';

/** An event that was written on the page: its envelope as far as it is given, or why it cannot be sent. */
export type OwnEvent =
  | { event: Partial<Envelope> & Pick<Envelope, 'type' | 'data'>; warning?: string | undefined; problem?: undefined }
  | { problem: string; event?: undefined; warning?: undefined };

/** More than this is refused by the page's server. */
const MAX_CHARACTERS = 60_000;

/**
 * Reads an event from JSON. `id`, `timestamp`, `version` and `jobId` may be left out, and are then chosen as for a
 * sample. Fields of `data` that the service would send and that are missing are a warning: a receiver has to bear that.
 */
export function readOwnEvent(json: string): OwnEvent {
  if (json.length > MAX_CHARACTERS) return { problem: `The event has more than ${MAX_CHARACTERS} characters.` };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { problem: `This is not JSON: ${(error as Error).message}.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'The event must be a JSON object.' };
  }
  const given = { data: {}, ...value };
  const faulty = faultyFields(given, ENVELOPE_FIELDS).find((field) => field === 'type' || Object.hasOwn(given, field));
  if (faulty !== undefined) {
    return { problem: `${faulty} must be ${ENVELOPE_FIELDS[faulty as keyof Envelope].mustBe}.` };
  }
  const event = given as Partial<Envelope> & Pick<Envelope, 'type' | 'data'>;
  const rules = rulesOf(event.type);
  const [field] = faultyFields(event.data, rules);
  if (field === undefined) return { event };
  return { event, warning: `The service sends data.${field} as ${rules[field]?.mustBe}.` };
}

/** The fields of `data` that a sample would have and this event has not: undefined, so that they stay out. */
export function leftOut({ type, data }: Pick<Envelope, 'type' | 'data'>): Record<string, undefined> {
  const missing = Object.keys(rulesOf(type)).filter((field) => !Object.hasOwn(data, field));
  return Object.fromEntries(missing.map((field) => [field, undefined]));
}

function rulesOf(type: string) {
  return Object.hasOwn(DATA_FIELDS, type) ? (DATA_FIELDS[type as EventType] ?? {}) : {};
}
