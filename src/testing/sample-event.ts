import { check, checkObject } from '../check.js';
import { type EventOf, type EventType, PAYLOAD_VERSION } from '../event.js';

/** What is different about a sample. `data` is added to the sample's own, field by field. */
export type EventOverrides<Type extends EventType> = {
  [Field in Exclude<keyof EventOf<Type>, 'type' | 'data'>]?: EventOf<Type>[Field] | undefined;
} & { data?: Partial<EventOf<Type>['data']> | undefined };

/** What `jobId` refers to (specification, section 6.4). */
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
 * An event of one of the sixteen types (specification, section 6.1), with a new id and the time of now unless they are
 * given. Only `generation.completed` has fields in `data`: of the other types the specification shows none.
 *
 * @throws WebhookError `invalid_option` for a type that there is not
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

/** Made from the event's id, so that it is the same again for the same id. */
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
