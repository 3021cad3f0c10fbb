// What `isWebhookEvent` accepts, as JSON Schema 2020-12, and on top of it each type of event. Dates are patterns, since
// validators are free to pass over `format`; they know the calendar, as the guard does.
import { eventTypes } from './event-types.mjs';

const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const LONG = '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])';
const SHORT = '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)';
const FEBRUARY = '02-(?:0[1-9]|1[0-9]|2[0-8])';
const DATE = `(?:[0-9]{4}-(?:${LONG}|${SHORT}|${FEBRUARY})|${LEAP_YEAR}-02-29)`;
const HOUR_MINUTE = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${HOUR_MINUTE}(?::[0-5][0-9](?:\\.[0-9]+)?)?(?:Z|[+-]${HOUR_MINUTE})?`;

/** The object around `data`: specification, section 6.1. */
export const envelope = {
  title: 'WebhookEvent',
  description: 'The envelope of an event. More fields than these are welcome.',
  type: 'object',
  required: ['id', 'type', 'version', 'jobId', 'data', 'timestamp'],
  properties: {
    id: {
      description: 'The same at every endpoint and on every attempt.',
      type: 'string',
      minLength: 5,
      pattern: '^evt_',
    },
    type: {
      description: 'One of the types below; a future one is a valid envelope too.',
      type: 'string',
      minLength: 1,
    },
    version: { description: 'Date of the payload schema, YYYY-MM-DD.', type: 'string', pattern: `^${DATE}$` },
    jobId: { description: 'The job the event is about; null where there is none.', type: ['string', 'null'] },
    data: { description: 'What is in it depends on the type.', type: 'object' },
    timestamp: { description: 'When it was sent, ISO 8601.', type: 'string', pattern: `^${DATE}(?:T${TIME})?$` },
  },
};

/** The only data whose fields the specification shows. */
const shownData = {
  'generation.completed': {
    type: 'object',
    required: ['clipId', 'feature', 'durationSec', 'downloadUrl'],
    properties: {
      clipId: { type: 'string' },
      feature: { description: 'Name of the feature that made the clip.', type: 'string' },
      durationSec: { description: 'Length of the clip, in seconds.', type: 'number' },
      downloadUrl: {
        description: 'Presigned GET link, valid for about one hour; a redelivery may carry an expired one.',
        type: 'string',
      },
    },
  },
};

/** For each type of event what `isEvent` accepts; `base` is where the envelope is found. */
export function typedEvents(base) {
  return Object.fromEntries(
    eventTypes.map(({ type, fires, job }) => {
      const data = shownData[type] && { data: shownData[type] };
      const schema = {
        title: type,
        description: `${fires} jobId: ${job}.`,
        allOf: [{ $ref: base }],
        properties: { type: { const: type }, ...data },
      };
      return [type, schema];
    }),
  );
}

/** The schema that stands alone. */
export const eventSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...envelope,
  $defs: typedEvents('#'),
};
