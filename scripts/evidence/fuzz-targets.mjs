import { createHmac } from 'node:crypto';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = 1_783_771_200_000;
const BODY = 'a body';
const mac = (t) => createHmac('sha256', SECRET).update(`${t}.${BODY}`).digest('hex');
const T = [0, -300, -301, 300, 301].map((skew) => NOW / 1000 + skew);
const latin1 = (text) => Buffer.from(text, 'latin1');

const EVENT =
  '{"id":"evt_1","type":"stt.completed","version":"2026-07-11","jobId":null,"data":{},"timestamp":"2026-07-11T12:00:00Z"}';

/**
 * What is fuzzed: `judge` gives what the library and a second reading of the rules make of an input. `faults` are texts
 * of the built library and what a fault would have in their place: each has to be found.
 */
export const fuzzTargets = {
  header: {
    seeds: [...T.map((t) => `t=${t},v1=${mac(t)}`), `v2=x,v1=${mac(T[0])},t=${T[0]},v1=00`, 'v1=', '', 't=0'].map(
      latin1,
    ),
    words: [
      ...T.map((t) => `t=${t}`),
      ...T.map((t) => `v1=${mac(t)}`),
      't=',
      'v1=',
      ',',
      '=',
      ',v2=x',
      ' ',
      '0',
      'a',
    ].map(latin1),
    judge({ verifySignature }, { referenceVerdict }, input) {
      const header = input.toString('latin1');
      const headers = { 'x-service-signature-v2': header };
      const ours = verdictOf(() => verifySignature({ headers, body: BODY, secret: SECRET, now: () => NOW }).scheme);
      return [ours, referenceVerdict(header, BODY, SECRET, NOW)];
    },
    faults: [
      ['/^[0-9a-f]{64}$/', '/^[0-9a-f]{64}/'],
      ['/^(?:0|[1-9]\\d{0,11})$/', '/^\\d+$/'],
      ['if (t !== void 0) throw', 'if (false) throw'],
      ['elements > MAX_ELEMENTS', 'elements > MAX_ELEMENTS + 1'],
      ['macs > MAX_V1', 'macs > MAX_V1 + 1'],
      ['value.length > MAX_LENGTH', 'value.length > MAX_LENGTH + 1'],
      ['/\\s/.test(value)', '/[ ]/.test(value)'],
      ['-age <= toleranceSeconds', '-age <= toleranceSeconds + 1'],
    ],
  },
  envelope: {
    seeds: [EVENT, EVENT.replace('{}', '{"a":[1,"x",{}]}'), EVENT.replace('Z"', '.123+01:00"'), '[]', ''].map((text) =>
      Buffer.from(text),
    ),
    words: [
      '"id":',
      '"evt_',
      '"jobId":"x"',
      '"data":',
      '[]',
      '{}',
      'null',
      '-02-29',
      '-02-30',
      '-04-31',
      '2028',
      '24:',
      ':60',
      'T23:59',
      '.0',
      '+14:00',
      '\ufeff',
      '\u00e9',
      '\\u0061',
      '__proto__',
      '0',
      '"',
    ].map((text) => Buffer.from(text)),
    judge: ({ parseEvent }, { referenceEnvelope }, input) => [
      verdictOf(() => parseEvent(input) && 'accepted'),
      referenceEnvelope(input),
    ],
    faults: [
      ['fatal: true', 'fatal: false'],
      ['ignoreBOM: true', 'ignoreBOM: false'],
      ['id.length === 4', 'false'],
      ['type === ""', 'false'],
      ['version.length !== 10', 'false'],
      ['jobId !== null', 'jobId != null'],
      ['!Array.isArray(value)', 'true'],
      ['day <= "28" ||', 'day <= "29" ||'],
      ['(0[1-9]|1[0-2])-', '(0[0-9]|1[0-2])-'],
      ['([01]\\d|2[0-3]):[0-5]\\d(:', '([01]\\d|2[0-4]):[0-5]\\d(:'],
    ],
  },
};

/** What is no WebhookError goes on to whoever runs this. */
function verdictOf(call) {
  try {
    return call();
  } catch (error) {
    if (typeof error?.code !== 'string' || error.name !== 'WebhookError') throw error;
    return error.code;
  }
}
