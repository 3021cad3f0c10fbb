import { type Envelope, PAYLOAD_VERSION, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { eventSchema, type StandardIssue, type StandardSchema } from 'service-webhooks/standard-schema';

type GivenEnvelope = Partial<Envelope> & Pick<Envelope, 'type' | 'data'>;

/** An event that was written on the page: its envelope as far as it is given, or why it cannot be sent. */
export type OwnEvent =
  | { event: GivenEnvelope; warning?: string | undefined; problem?: undefined }
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
  const faulty = issuesOf(eventSchema(), given).find(({ path: [field = ''] }) => {
    return field === 'type' || Object.hasOwn(given, field);
  });
  if (faulty !== undefined) return { problem: `${faulty.message}.` };
  const event = given as GivenEnvelope;
  const [first] = dataIssues(event);
  if (first === undefined) return { event };
  return { event, warning: `The service sends ${first.message.replace(' must be ', ' as ')}.` };
}

/** The fields of `data` that a sample would have and this event has not: undefined, so that they stay out. */
export function leftOut({ type, data }: Pick<Envelope, 'type' | 'data'>): Record<string, undefined> {
  const missing = dataIssues({ type, data }).flatMap(({ path: [, field] }) => field ?? []);
  return Object.fromEntries(missing.filter((field) => !Object.hasOwn(data, field)).map((field) => [field, undefined]));
}

/** Returns what is wrong with the data of an event whose envelope is right as far as it is given. */
function dataIssues({ type: name, data }: Pick<Envelope, 'type' | 'data'>): readonly StandardIssue[] {
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === name);
  if (type === undefined) return [];
  // The schema looks at the data only in an envelope that is right.
  const envelope = { id: 'evt_own', version: PAYLOAD_VERSION, jobId: null, timestamp: PAYLOAD_VERSION };
  return issuesOf(eventSchema(type), { ...envelope, type, data });
}

function issuesOf(schema: StandardSchema<unknown>, value: unknown): readonly StandardIssue[] {
  return schema['~standard'].validate(value).issues ?? [];
}
