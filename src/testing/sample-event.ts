import { issuePaths } from '../data-paths.js';
import { type StandardSchemaV1, validateNow } from '../data-schema.js';
import { type Envelope, type EventOf, type EventType, type EventWithData, PAYLOAD_VERSION } from '../event.js';
import { check, checkObject } from '../option-checks.js';

/** The fields in which a sample differs. `data` is merged into the sample's own, field by field. */
export type EventOverrides<Type extends EventType> = {
  [Field in Exclude<keyof EventOf<Type>, 'type' | 'data'>]?: EventOf<Type>[Field] | undefined;
} & { data?: Partial<EventOf<Type>['data']> | undefined };

/** The prefix of each type's `jobId`; null for the type without a job. */
const JOBS: Readonly<Record<EventType, string | null>> = {
  'generation.completed': 'clip',
  'generation.failed': 'clip',
  'stt.completed': 'clip',
  'stt.failed': 'clip',
  'export.completed': 'project',
  'export.failed': 'project',
  'trigger.completed': 'clip',
  'trigger.failed': null,
  'dubbing.completed': 'dubbing',
  'dubbing.failed': 'dubbing',
  'subtitle.completed': 'subtitle',
  'subtitle.failed': 'subtitle',
  'voice_enhancement.completed': 'clip',
  'voice_enhancement.failed': 'clip',
  'workflow_run.completed': 'run',
  'workflow_run.failed': 'run',
};

/**
 * Returns an event of one of the sixteen types, with a new id and the current time unless they are given. Only
 * `generation.completed` has fields in `data`: the service documents none for the other types (`docs/events.md`).
 *
 * With a schema of Standard Schema, `data` has the type of its input and must match it.
 *
 * @throws WebhookError `invalid_option` for an unknown type, for `data` that the schema refuses, for a value that is not a
 *   schema, and for an asynchronous schema
 * @example
 * const event = sampleEvent('generation.completed', { id: 'evt_1', data: { durationSec: 12.5 } });
 * const transcript = sampleEvent('stt.completed', { data: { text: 'Hello' } }, z.object({ text: z.string() }));
 */
export function sampleEvent<Type extends EventType>(type: Type, overrides?: EventOverrides<Type>): EventOf<Type>;
export function sampleEvent<Type extends EventType, Data>(
  type: Type,
  overrides: Omit<EventOverrides<Type>, 'data'> & { data: NoInfer<Data> },
  schema: StandardSchemaV1<Data, unknown>,
): EventWithData<Type, Data>;
export function sampleEvent(type: EventType, overrides: AnyOverrides = {}, schema?: StandardSchemaV1) {
  check(Object.hasOwn(JOBS, type), 'type must be one of WEBHOOK_EVENT_TYPES');
  checkObject('overrides', overrides);
  const {
    id = `evt_${crypto.randomUUID().replaceAll('-', '')}`,
    version = PAYLOAD_VERSION,
    jobId = jobIdOf(type, id, overrides.data),
    data: given,
    timestamp = new Date().toISOString(),
    ...more
  } = overrides;
  const data = { ...(type === 'generation.completed' ? clip(jobId) : {}), ...(given as object | undefined) };
  if (schema) checkData(schema, data);
  return { id, type, version, jobId, data, timestamp, ...more };
}

/** The overrides of any type. */
type AnyOverrides = { [Field in 'id' | 'version' | 'jobId' | 'timestamp']?: Envelope[Field] | undefined } & {
  data?: unknown;
};

function checkData(schema: StandardSchemaV1, data: object): void {
  const { issues } = validateNow(schema, data);
  if (issues) check(false, `overrides.data does not match the schema: ${issuePaths(issues).join(', ')}`);
}

/** Derived from the event's id, so that the same id always gets the same value. */
function jobIdOf(type: EventType, id: string, data: unknown): string | null {
  const { clipId } = Object(data);
  if (type === 'generation.completed' && typeof clipId === 'string') return clipId;
  return JOBS[type] && `${JOBS[type]}_${String(id).replace(/^evt_/, '')}`;
}

function clip(jobId: string | null) {
  return {
    clipId: jobId ?? 'clip_sample',
    feature: 'text-to-speech',
    durationSec: 4.2,
    downloadUrl: 'https://storage.example/clip.mp3',
  };
}
