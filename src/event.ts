import { WebhookError } from './errors.js';
import { exactBytes } from './http.js';

/** The schema version of the payloads these types describe (specification, sections 6.1 and 9). */
export const PAYLOAD_VERSION = '2026-07-11';

/** Every event type of the service (specification, section 6.4). */
export const WEBHOOK_EVENT_TYPES = [
  'generation.completed',
  'generation.failed',
  'stt.completed',
  'stt.failed',
  'export.completed',
  'export.failed',
  'trigger.completed',
  'trigger.failed',
  'dubbing.completed',
  'dubbing.failed',
  'subtitle.completed',
  'subtitle.failed',
  'voice_enhancement.completed',
  'voice_enhancement.failed',
  'workflow_run.completed',
  'workflow_run.failed',
] as const;

/** One of the sixteen types of {@link WEBHOOK_EVENT_TYPES}. */
export type EventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The JSON object around `data` (specification, section 6.1). More fields are welcome and stay on the object. */
export interface Envelope<Type extends string = string, Data = Record<string, unknown>> {
  /** `evt_…`, the same at every endpoint and on every attempt. */
  id: string;
  type: Type;
  /** Date of the payload schema, `YYYY-MM-DD`; see {@link PAYLOAD_VERSION}. */
  version: string;
  /** The job the event is about; null where there is none. */
  jobId: string | null;
  data: Data;
  /** When it was sent, ISO 8601. */
  timestamp: string;
}

/** `data` of `generation.completed`, the only one whose fields the specification shows (section 6.1). */
export interface GenerationCompletedData {
  clipId: string;
  /** Name of the feature that made the clip. */
  feature: string;
  /** Length of the clip, in seconds. */
  durationSec: number;
  /** Presigned GET link, valid for about one hour after the event; a redelivery may carry an expired one. */
  downloadUrl: string;
  [field: string]: unknown;
}

interface ShownData {
  'generation.completed': GenerationCompletedData;
}

/** The event of one type: `EventOf<'stt.completed'>`. */
export type EventOf<Type extends EventType> = Type extends keyof ShownData
  ? Envelope<Type, ShownData[Type]>
  : Envelope<Type>;

/** One of the sixteen events. */
export type KnownEvent = { [Type in EventType]: EventOf<Type> }[EventType];

/** An event of a type that this version does not know: a valid envelope all the same. */
export type UnknownEvent = Envelope;

/** Any event. Narrow it with {@link isEvent} or {@link isKnownEvent}. */
export type WebhookEvent = KnownEvent | UnknownEvent;

const ISO_8601 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$/;

/**
 * Whether a value is an envelope, field by field (specification, section 6.1). `data` is only required to be an
 * object: what is in it is not looked at.
 *
 * @example
 * const value: unknown = JSON.parse(text);
 * if (isWebhookEvent(value)) console.log(value.id, value.type);
 */
export function isWebhookEvent(value: unknown): value is WebhookEvent {
  return faultyField(value) === undefined;
}

/**
 * Whether an event is of that type. Where the specification shows the fields of `data` (`generation.completed`) they
 * are checked too, so that what the types promise is there.
 *
 * @example
 * if (isEvent(event, 'generation.completed')) download(event.data.downloadUrl);
 */
export function isEvent<Type extends EventType>(
  event: WebhookEvent,
  type: Type,
): event is EventOf<Type> & WebhookEvent {
  if (event.type !== type) return false;
  if (type !== 'generation.completed') return true;
  const { clipId, feature, durationSec, downloadUrl } = event.data;
  return (
    typeof clipId === 'string' &&
    typeof feature === 'string' &&
    typeof downloadUrl === 'string' &&
    Number.isFinite(durationSec)
  );
}

/**
 * Whether an event is one of the sixteen, so that a `switch` over `event.type` narrows it. `data` is not looked at;
 * {@link isEvent} does that.
 *
 * @example
 * if (!isKnownEvent(event)) return log(`new event type ${event.type}`);
 */
export function isKnownEvent(event: WebhookEvent): event is KnownEvent {
  return (WEBHOOK_EVENT_TYPES as readonly string[]).includes(event.type);
}

/**
 * Bytes to a typed event: strict UTF-8, JSON, envelope. It checks no signature; {@link verify} does both.
 *
 * @throws WebhookError `invalid_encoding`, `invalid_json`, `invalid_envelope`; `body_already_parsed` for an object.
 * @example
 * const event = parseEvent(await queue.take()); // bytes that were verified when they arrived
 */
export function parseEvent(body: Uint8Array | ArrayBuffer | string): WebhookEvent {
  const value = parseJson(exactBytes(body));
  const field = faultyField(value);
  if (field !== undefined) throw new WebhookError('invalid_envelope', 400, 'Signed, no event.', field);
  return value as WebhookEvent;
}

// The byte order mark is kept, so that JSON.parse refuses it: an accepted body has one spelling.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): unknown {
  let code: 'invalid_encoding' | 'invalid_json' = 'invalid_encoding';
  try {
    const text = decoder.decode(bytes);
    code = 'invalid_json';
    return JSON.parse(text);
  } catch {
    // Not the SyntaxError as a cause: it quotes the body.
    throw new WebhookError(code, 400, 'Signed, no event.');
  }
}

function faultyField(envelope: unknown): string | undefined {
  if (!isObject(envelope)) return 'no object';
  const { id, type, version, jobId, data, timestamp } = envelope;
  if (typeof id !== 'string' || !/^evt_./s.test(id)) return 'id';
  if (typeof type !== 'string' || !type) return 'type';
  if (version !== PAYLOAD_VERSION && !(isDate(version) && version.length === 10)) return 'version';
  if (typeof jobId !== 'string' && jobId !== null) return 'jobId';
  if (!isObject(data)) return 'data';
  if (!isDate(timestamp)) return 'timestamp';
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** ISO 8601 that names a day of the calendar: `Date.parse` would take 30 February for 2 March. */
function isDate(text: unknown): text is string {
  if (typeof text !== 'string' || !ISO_8601.test(text)) return false;
  const day = text.slice(8, 10);
  return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === +day;
}
