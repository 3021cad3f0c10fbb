import {
  DATA_FIELDS,
  ENVELOPE_FIELDS,
  type EventOf,
  type EventType,
  type FieldRule,
  faultyFields,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from '../event.js';
import { checkChoice } from '../option-checks.js';
import type { StandardIssue, StandardSchema } from './standard-schema.js';

/**
 * Returns a Standard Schema for events: for any event, with the checks of `isWebhookEvent`, or for one type, with those
 * of `isEvent`. A valid value is returned unchanged. The schema checks no signature: use it for events that were verified
 * when they arrived, such as those from a queue or a table.
 *
 * @throws WebhookError `invalid_option` for a type that the service does not send.
 * @example
 * const schema = eventSchema('generation.completed');
 * const { issues } = schema['~standard'].validate(JSON.parse(message));
 * if (issues) console.warn(issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
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

function issuesOf(value: unknown, type: EventType | undefined): StandardIssue[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ message: 'must be an object', path: [] }];
  }
  const issues = fieldIssues(value, ENVELOPE_FIELDS, []);
  if (issues.length > 0 || type === undefined) return issues;
  const event = value as WebhookEvent;
  if (event.type !== type) return [{ message: `type must be ${type}`, path: ['type'] }];
  return fieldIssues(event.data, DATA_FIELDS[type] ?? {}, ['data']);
}

function fieldIssues(
  object: object,
  rules: { readonly [field: string]: FieldRule },
  parent: string[],
): StandardIssue[] {
  return faultyFields(object, rules).map((field) => {
    const path = [...parent, field];
    return { message: `${path.join('.')} must be ${rules[field]?.mustBe}`, path };
  });
}
