import assert from 'node:assert/strict';
import { eventText } from '../event-text.mjs';
import { mutateJson } from './mutate-json.mjs';
import { verdictOf } from './verdict-of.mjs';

const eventAt = (timestamp, more = {}) => eventText({ timestamp, ...more });

export const envelopeTarget = {
  seeds: [
    eventAt('2026-07-11T12:00:00Z'),
    eventAt('2026-07-11T12:00:00.123+01:00', { version: '2028-02-29' }),
    eventAt('2026-07-11T12:00-01:00', { jobId: 'clip_1' }),
    eventAt('2026-07-11', { data: { a: [1, 'x', {}] } }),
    '[]',
    '',
  ].map((text) => Buffer.from(text)),
  accepts: 'accepted',
  words: [
    ...['evt_', 'id', 'jobId', 'data', '__proto__', '"x"', '""', '"', '[]', '{}', 'null', ',', '\\u0061', '\\ud800'],
    ...['0', '00', '13', '24', '29', '30', '31', '32', '60', '2028', '2100', '02-29', '02-30', '04-31'],
    ...['-', ':', '.', '.0', ':00', '+', 'T', 'T23:59', 'Z', 't', 'z', '+14:00', ' ', '\n', '\ufeff', 'é', '٣'],
  ].map((text) => Buffer.from(text)),
  mutate: mutateJson,

  /** Beside a second reading of the rules; as text; as a value; and once more, of what was made of it. */
  judge({ parseEvent, isWebhookEvent, referenceEnvelope }, input) {
    const { code, message = code } = verdictOf(() => parseEvent(input) && 'accepted');
    assert.equal(message, referenceEnvelope(input));
    if (code === 'invalid_encoding') return code;
    const text = input.toString();
    assert.equal(verdictOf(() => parseEvent(text) && 'accepted').code, code, 'as text');
    if (code === 'invalid_json') return code;
    const value = JSON.parse(text);
    assert.equal(isWebhookEvent(value), code === 'accepted', 'as a value');
    if (code !== 'accepted') return code;
    const again = JSON.stringify(parseEvent(text));
    assert.equal(again, JSON.stringify(value), 'what JSON.parse makes of it');
    assert.equal(JSON.stringify(parseEvent(again)), again, 'once more');
    assert.equal(Object.getPrototypeOf(parseEvent(text)), Object.prototype);
    return code;
  },

  faults: [
    ['fatal: true', 'fatal: false'],
    ['ignoreBOM: true', 'ignoreBOM: false'],
    ['if (!isObject(envelope)) return "no object"', 'if (typeof envelope !== "object") return "no object"'],
    ['/^evt_./s', '/^evt./s'],
    ['/^evt_./s', '/^evt_/'],
    ['/^evt_./s', '/^evt_./'],
    ['/^evt_./s', '/evt_./s'],
    ['typeof type !== "string" || !type', 'typeof type !== "string"'],
    ['typeof type !== "string" || !type', '!type'],
    ['version.length === 10', 'true'],
    ['version !== PAYLOAD_VERSION && !(', 'version !== PAYLOAD_VERSION && !(version > PAYLOAD_VERSION && '],
    ['jobId !== null', 'jobId != null'],
    ['jobId !== null', 'jobId !== null || jobId === ""'],
    ['!Array.isArray(value)', 'true'],
    ['value !== null && !Array.isArray(value)', '!Array.isArray(value)'],
    ['if (!isDate(timestamp))', 'if (!isDate(timestamp) && !isDate(version))'],
    ['day <= "28" ||', 'day <= "29" ||'],
    ['day <= "28" ||', 'day <= "30" ||'],
    ['/^\\d{4}-(0[1-9]|1[0-2])-', '/^\\d{4,5}-(0[1-9]|1[0-2])-'],
    ['-(0[1-9]|1[0-2])-', '-(0[0-9]|1[0-2])-'],
    ['(T([01]\\d|2[0-3]):[0-5]\\d(:', '(T([01]\\d|2[0-4]):[0-5]\\d(:'],
    ['(:[0-5]\\d(\\.', '(:([0-5]\\d|60)(\\.'],
    ['(\\.\\d+)?', '(\\.\\d*)?'],
    ['[+-]([01]\\d|2[0-3])', '[+-]([01]\\d|2[0-9])'],
  ],
};
