import { checkChoice } from '../check.js';
import {
  type EventOf,
  type EventType,
  isEvent,
  isWebhookEvent,
  PAYLOAD_VERSION,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from '../event.js';
import type { StandardIssue, StandardSchema } from './standard-schema.js';

/**
 * The guard of an event as a Standard Schema: of any event as `isWebhookEvent`, of one type as `isEvent`. It gives back
 * the very value it was given. It checks no signature: it is for what was verified when it arrived, and comes out of a
 * queue or a table now.
 *
 * @throws WebhookError `invalid_option` for a type that the service does not send.
 * @example
 * const schema = eventSchema('generation.completed');
 * const { issues } = schema['~standard'].validate(JSON.parse(message));
 */
export function eventSchema(): StandardSchema<WebhookEvent>;
export function eventSchema<Type extends EventType>(type: Type): StandardSchema<EventOf<Type>>;
export function eventSchema(type?: EventType): StandardSchema<WebhookEvent> {
  if (type !== undefined) checkChoice('type', type, WEBHOOK_EVENT_TYPES);
  return {
    '~standard': {
      version: 1,
      vendor: 'service-webhooks',
      validate: (value) => {
        const issues = issuesOf(value, type);
        return issues.length > 0 ? { issues } : { value: value as WebhookEvent };
      },
    },
  };
}

const MUST_BE: Record<string, string> = {
  id: 'must be text that begins with evt_ and goes on',
  type: 'must be text and not empty',
  version: 'must be a date, YYYY-MM-DD',
  jobId: 'must be text or null',
  data: 'must be an object',
  timestamp: 'must be an ISO 8601 date',
};

const MUST_BE_IN_DATA: Record<string, string> = {
  clipId: 'must be text',
  feature: 'must be text',
  durationSec: 'must be a number',
  downloadUrl: 'must be text',
};

// Nothing is wrong with it, except for the one field that is put in: so the guards alone decide about each.
const GOOD = {
  id: 'evt_1',
  type: 'generation.completed',
  version: PAYLOAD_VERSION,
  jobId: null,
  data: { clipId: '', feature: '', durationSec: 0, downloadUrl: '' },
  timestamp: PAYLOAD_VERSION,
} as const;

function issuesOf(value: unknown, type: EventType | undefined): StandardIssue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ message: 'must be an object', path: [] }];
  }
  const given = value as Record<string, unknown>;
  const issues = Object.keys(MUST_BE)
    .filter((field) => !isWebhookEvent({ ...GOOD, [field]: given[field] }))
    .map((field) => ({ message: `${field} ${MUST_BE[field]}`, path: [field] }));
  if (issues.length > 0 || type === undefined || isEvent(value as WebhookEvent, type)) return issues;
  if (given['type'] !== type) return [{ message: `type must be ${type}`, path: ['type'] }];
  const data = given['data'] as Record<string, unknown>;
  return Object.keys(MUST_BE_IN_DATA)
    .filter((field) => !isEvent({ ...GOOD, data: { ...GOOD.data, [field]: data[field] } }, GOOD.type))
    .map((field) => ({ message: `data.${field} ${MUST_BE_IN_DATA[field]}`, path: ['data', field] }));
}
