import { exactBytes } from './bytes.js';
import { type StandardSchemaV1, validateNow } from './data-schema.js';
import { WebhookError } from './errors.js';

/** The schema version of the payloads that these types describe. */
export const PAYLOAD_VERSION = '2026-07-11';

/** Every event type of the service. */
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
// Extract changes nothing but the compiler's messages: they then say EventType in place of sixteen strings.
export type EventType = Extract<(typeof WEBHOOK_EVENT_TYPES)[number], string>;

/** The JSON object around `data`. Further fields are accepted and stay on the object. */
export interface Envelope<Type extends string = string, Data = Record<string, unknown>, JobId = string | null> {
  /** The id of the event, `evt_…`: the same at every endpoint and on every attempt. */
  id: string;
  type: Type;
  /** The date of the payload schema, `YYYY-MM-DD`; see {@link PAYLOAD_VERSION}. */
  version: string;
  /** The id of the job that the event is about; null for `trigger.failed`, which has no job. */
  jobId: JobId;
  data: Data;
  /** The time of sending, in ISO 8601. */
  timestamp: string;
}

/** The `data` of `generation.completed`, the only type whose fields the service documents. */
export interface GenerationCompletedData {
  clipId: string;
  /** The name of the feature that produced the clip. */
  feature: string;
  /** The length of the clip, in seconds. */
  durationSec: number;
  /** A presigned GET link, valid for about one hour after the event; in a redelivery it may have expired. */
  downloadUrl: string;
  [field: string]: unknown;
}

/**
 * The `data` of each type of event, for declarations of your own. A declared type is that of `event.data` everywhere: in
 * handlers, behind a middleware and in tests. It is for the compiler only: `withSchemas` also checks the data of each event.
 * The file of the declaration needs the import: without one, TypeScript takes the declaration for that of the whole package.
 *
 * @example
 * import 'service-webhooks';
 *
 * declare module 'service-webhooks' {
 *   interface EventData {
 *     'stt.completed': { text: string };
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: users add the fields
export interface EventData {}

interface DocumentedData {
  'generation.completed': GenerationCompletedData;
}

type DataOf<Type extends EventType> = Type extends keyof EventData
  ? EventData[Type]
  : Type extends keyof DocumentedData
    ? DocumentedData[Type]
    : Record<string, unknown>;

/** The event of one type, for example `EventOf<'stt.completed'>`; of several types, the union of their events. */
export type EventOf<Type extends EventType> = Type extends EventType
  ? Envelope<Type, DataOf<Type>, Type extends 'trigger.failed' ? null : string>
  : never;

/** The event of one type with `data` of another type: as a schema of yours describes it. */
export type EventWithData<Type extends EventType, Data> = Envelope<Type, Data, EventOf<Type>['jobId']>;

/** An event of one of the sixteen types. */
export type KnownEvent = EventOf<EventType>;

/**
 * The `type` of an event that this version does not know: any string but the sixteen. It exists for the compiler only, and
 * has no value to compare with. To look for a type that is newer than this version, compare a string:
 *
 * @example
 * const type: string = event.type;
 * if (type === 'music.completed') console.log(event.jobId);
 */
// An enum, because no literal equals one: so `event.type === 'stt.completed'` excludes unknown events. Two members, so that
// the compiler does not take the types of two unknown events for equal.
// biome-ignore lint/suspicious/noConstEnum: a member of another enum would compile, and be undefined when it runs
export declare const enum UnknownEventType {
  One = 'one unknown type',
  Another = 'another unknown type',
}

/** An event with a valid envelope and a type that this version does not know. */
export type UnknownEvent = Envelope<UnknownEventType>;

/**
 * Any event. A comparison of its `type`, also in a `switch`, narrows it.
 *
 * @example
 * if (event.type === 'generation.completed') await download(event.data.downloadUrl);
 */
export type WebhookEvent = KnownEvent | UnknownEvent;

/** An event with `data` of any type, such as the output of a schema. */
export type AnyEvent = Envelope<string, unknown>;

/** The rule of a field: in words, as the end of a sentence, and as a test. */
export interface FieldRule {
  readonly mustBe: string;
  readonly test: (value: unknown) => boolean;
}

const STRING: FieldRule = { mustBe: 'a string', test: (value) => typeof value === 'string' };
const NUMBER: FieldRule = { mustBe: 'a number', test: (value) => Number.isFinite(value) };

/** The fields of the envelope, in the order in which they are checked. */
export const ENVELOPE_FIELDS: { readonly [Field in keyof Envelope]: FieldRule } = {
  id: {
    mustBe: 'a string that begins with evt_ and goes on',
    test: (value) => typeof value === 'string' && /^evt_./s.test(value),
  },
  type: { mustBe: 'a string that is not empty', test: (value) => typeof value === 'string' && value !== '' },
  version: { mustBe: 'a date, YYYY-MM-DD', test: (value) => isIsoDate(value) && value.length === 10 },
  jobId: { mustBe: 'a string or null', test: (value) => typeof value === 'string' || value === null },
  data: { mustBe: 'an object', test: isObject },
  timestamp: { mustBe: 'an ISO 8601 date', test: isIsoDate },
};

/** The fields of `data` that the types promise. */
export const DATA_FIELDS: {
  readonly [Type in EventType]?: { readonly [field: string]: FieldRule };
} = {
  'generation.completed': { clipId: STRING, feature: STRING, durationSec: NUMBER, downloadUrl: STRING },
};

/** Returns the names of the fields that break their rule. */
export function faultyFields(object: object, rules: { readonly [field: string]: FieldRule }): string[] {
  const values = object as Record<string, unknown>;
  return Object.keys(rules).filter((field) => !rules[field]?.test(values[field]));
}

/**
 * Returns whether a value is an envelope, checked field by field. `data` must be an object; its fields are not checked.
 *
 * @example
 * const value: unknown = JSON.parse(text);
 * if (isWebhookEvent(value)) console.log(value.id, value.type);
 */
export function isWebhookEvent(value: unknown): value is WebhookEvent {
  return isObject(value) && faultyFields(value, ENVELOPE_FIELDS).length === 0;
}

/**
 * Returns whether an event is of that type. Where the service documents fields of `data` (`generation.completed`), these
 * are checked too.
 *
 * With a schema of Standard Schema, such as one of Zod, Valibot or ArkType, `data` must match it as well. The event stays
 * as it is: `data` has the type of the schema's input, before defaults and transformations. `withSchemas` of
 * `service-webhooks/standard-schema` gives handlers the output.
 *
 * @throws WebhookError `invalid_option` for a value that is not a schema and for an asynchronous schema; what a schema throws
 * @example
 * if (isEvent(event, 'generation.completed')) await download(event.data.downloadUrl);
 * if (isEvent(event, 'stt.completed', z.object({ text: z.string() }))) console.log(event.data.text.length);
 */
export function isEvent<Type extends EventType>(event: AnyEvent, type: Type): event is EventOf<Type> & AnyEvent;
export function isEvent<Type extends EventType, Data>(
  event: AnyEvent,
  type: Type,
  schema: StandardSchemaV1<Data, unknown>,
): event is EventWithData<Type, Data> & AnyEvent;
export function isEvent({ type, data }: AnyEvent, wanted: EventType, schema?: StandardSchemaV1): boolean {
  if (type !== wanted || faultyFields(Object(data), DATA_FIELDS[wanted] ?? {}).length > 0) return false;
  return schema === undefined || validateNow(schema, data).issues === undefined;
}

/**
 * Returns whether an event has one of the sixteen types. Does not check `data`: use {@link isEvent} for that.
 *
 * @example
 * if (!isKnownEvent(event)) console.log(`new event type ${event.type}`);
 */
export function isKnownEvent(event: AnyEvent): event is KnownEvent {
  return (WEBHOOK_EVENT_TYPES as readonly string[]).includes(event.type);
}

/**
 * Parses bytes to a typed event: strict UTF-8, JSON, envelope. It checks no signature: use {@link verify} for bytes
 * from the network.
 *
 * @throws WebhookError `invalid_encoding`, `invalid_json`, `invalid_envelope`; `body_already_parsed` for an object.
 * @example
 * const { type, jobId } = parseEvent(body); // bytes that were verified when they arrived
 */
export function parseEvent(body: Uint8Array | ArrayBuffer | string): WebhookEvent {
  const value = parseJson(exactBytes(body));
  if (!isObject(value)) throw notAnEvent('it is not a JSON object');
  const [field] = faultyFields(value, ENVELOPE_FIELDS);
  if (field !== undefined) throw notAnEvent(`${field} must be ${ENVELOPE_FIELDS[field as keyof Envelope].mustBe}`);
  return value as unknown as WebhookEvent;
}

function notAnEvent(fault: string): WebhookError {
  return new WebhookError('invalid_envelope', {
    message: `The signature is valid, but the body is not an event: ${fault}.`,
  });
}

// The byte order mark is kept, so that JSON.parse refuses it: an accepted body has one spelling.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): unknown {
  const text = attempt(() => decoder.decode(bytes), 'invalid_encoding');
  return attempt(() => JSON.parse(text), 'invalid_json');
}

/** Runs a call whose error becomes a code. The error itself is not the cause, because a SyntaxError quotes the body. */
function attempt<T>(call: () => T, code: 'invalid_encoding' | 'invalid_json'): T {
  try {
    return call();
  } catch {
    throw new WebhookError(code);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const ISO_8601 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$/;

/** Returns whether a text is ISO 8601 and names a day of the calendar: `Date.parse` would accept 30 February. */
function isIsoDate(text: unknown): text is string {
  if (typeof text !== 'string' || !ISO_8601.test(text)) return false;
  const day = Number(text.slice(8, 10));
  return day <= 28 || new Date(text.slice(0, 10)).getUTCDate() === day; // every month has 28 days
}
