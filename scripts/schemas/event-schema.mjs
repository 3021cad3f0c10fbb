// The envelope as JSON Schema 2020-12, exactly as `isWebhookEvent` checks it, and a schema for each event type. Dates are
// patterns that know the calendar, because validators may ignore `format`.
import { eventTypes } from './event-types.mjs';

const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const LONG = '(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])';
const SHORT = '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)';
const FEBRUARY = '02-(?:0[1-9]|1[0-9]|2[0-8])';
const DATE = `(?:[0-9]{4}-(?:${LONG}|${SHORT}|${FEBRUARY})|${LEAP_YEAR}-02-29)`;
const HOUR_MINUTE = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${HOUR_MINUTE}(?::[0-5][0-9](?:\\.[0-9]+)?)?(?:Z|[+-]${HOUR_MINUTE})?`;

/** The envelope (specification, section 6.1). */
export const envelope = {
  title: 'WebhookEvent',
  description: 'The envelope of an event. It may have more fields than these.',
  type: 'object',
  required: ['id', 'type', 'version', 'jobId', 'data', 'timestamp'],
  properties: {
    id: {
      description: 'Unique id of the event, the same for every endpoint and every attempt.',
      type: 'string',
      minLength: 5,
      pattern: '^evt_',
    },
    type: {
      description: 'One of the types below. An envelope with a future type is valid, too.',
      type: 'string',
      minLength: 1,
    },
    version: { description: 'Date of the payload schema, YYYY-MM-DD.', type: 'string', pattern: `^${DATE}$` },
    jobId: { description: 'Id of the originating job; null where no job exists.', type: ['string', 'null'] },
    data: { description: 'The payload, which depends on the type.', type: 'object' },
    timestamp: { description: 'Send time, ISO 8601.', type: 'string', pattern: `^${DATE}(?:T${TIME})?$` },
  },
};

/** The data whose fields the specification shows. */
const shownData = {
  'generation.completed': {
    type: 'object',
    required: ['clipId', 'feature', 'durationSec', 'downloadUrl'],
    properties: {
      clipId: { type: 'string' },
      feature: { description: 'Name of the feature that created the clip.', type: 'string' },
      durationSec: { description: 'Length of the clip, in seconds.', type: 'number' },
      downloadUrl: {
        description: 'Presigned GET link, valid for about one hour. A redelivered event may carry an expired one.',
        type: 'string',
      },
    },
  },
};

/** A schema for each event type, with `data` as `isEvent` checks it and `jobId` as section 6.4 has it; `base` is the envelope. */
export function typedEvents(base) {
  return Object.fromEntries(
    eventTypes.map(({ type, fires, job }) => {
      const data = shownData[type] && { data: shownData[type] };
      const schema = {
        title: type,
        description: job === null ? `${fires} jobId is null.` : `${fires} jobId is the id of the ${job}.`,
        allOf: [{ $ref: base }],
        properties: { type: { const: type }, jobId: { type: job === null ? 'null' : 'string' }, ...data },
      };
      return [type, schema];
    }),
  );
}

/** The content of schemas/event.json. */
export const eventSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...envelope,
  $defs: typedEvents('#'),
};
