import { type EventOf, type EventType, PAYLOAD_VERSION } from '../event.js';
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
 * @throws WebhookError `invalid_option` for an unknown type
 * @example
 * const event = sampleEvent('generation.completed', { id: 'evt_1', data: { durationSec: 12.5 } });
 */
export function sampleEvent<Type extends EventType>(type: Type, overrides: EventOverrides<Type> = {}): EventOf<Type> {
  check(Object.hasOwn(JOBS, type), 'type must be one of WEBHOOK_EVENT_TYPES');
  checkObject('overrides', overrides);
  const {
    id = `evt_${crypto.randomUUID().replaceAll('-', '')}`,
    version = PAYLOAD_VERSION,
    jobId = jobIdOf(type, id, overrides.data),
    data,
    timestamp = new Date().toISOString(),
    ...more
  } = overrides;
  const shown = type === 'generation.completed' ? clip(jobId) : {};
  return { id, type, version, jobId, data: { ...shown, ...data }, timestamp, ...more } as EventOf<Type>;
}

/** Derived from the event's id, so that the same id always gets the same value. */
function jobIdOf(type: EventType, id: string, data?: { clipId?: unknown }): string | null {
  if (type === 'generation.completed' && typeof data?.clipId === 'string') return data.clipId;
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
