import {
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  PAYLOAD_VERSION,
  parseEvent,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { anEvent, bodyOf, refusal } from './support/deliveries.js';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the catalog of events', () => {
  it('the service has sixteen types, each once', () => {
    const subjects = [
      'generation',
      'stt',
      'export',
      'trigger',
      'dubbing',
      'subtitle',
      'voice_enhancement',
      'workflow_run',
    ];
    expect(WEBHOOK_EVENT_TYPES).toEqual(subjects.flatMap((subject) => [`${subject}.completed`, `${subject}.failed`]));
  });

  it('PAYLOAD_VERSION is the date of the payload that the types describe', () => {
    expect(PAYLOAD_VERSION).toBe('2026-07-11');
  });
});

describe('isWebhookEvent', () => {
  it.each<[string, Record<string, unknown>]>([
    ['nothing unusual', {}],
    ['an id of one character behind evt_', { id: 'evt_x' }],
    ['an id of any characters', { id: 'evt_\0 ☃ \ud83c' }],
    ['an id of 10 kB', { id: `evt_${'x'.repeat(10_000)}` }],
    ['an unknown type', { type: 'video.completed' }],
    ['a type of one character', { type: 'x' }],
    ['another version', { version: '2031-01-01' }],
    ['the leap day as its version', { version: '2028-02-29' }],
    ['a day that is over in Greenwich', { timestamp: '2026-08-31T23:30:00-05:00' }],
    ['a day that has not yet begun there', { timestamp: '2026-08-29T00:30:00+05:00' }],
    ['no job', { jobId: null }],
    ['an empty job id', { jobId: '' }],
    ['empty data', { data: {} }],
    ['fields without a type', { region: 'eu', __proto__: { more: 1 } }],
  ])('an envelope with %s is accepted', (_, changes) => {
    expect(isWebhookEvent(anEvent(changes))).toBe(true);
  });

  it.each([
    '2026-07-11T12:00:00.000Z',
    '2026-07-11T12:00:00Z',
    '2026-07-11T12:00Z',
    '2026-07-11T12:00:00.123456789Z',
    '2026-07-11T12:00:00+02:00',
    '2026-07-11T12:00:00-11:30',
    '2026-07-11T12:00:00+23:59',
    '2026-07-11T12:00:00',
    '2026-07-11',
    '2028-02-29T00:00:00Z',
  ])('an envelope with the timestamp %s is accepted', (timestamp) => {
    expect(isWebhookEvent(anEvent({ timestamp }))).toBe(true);
  });

  it.each<[string, unknown[]]>([
    ['id', [undefined, null, 42, '', 'evt', 'evt_', 'EVT_1', ' evt_1', 'msg_evt_1', ['evt_1'], { length: 5 }]],
    ['type', [undefined, null, '', 1, ['stt.completed']]],
    ['version', [undefined, null, '', 20_260_711, '2026/07/11', '11-07-2026', 'v20260711x']],
    ['version', ['2026-7-11', '2026-07-11 ', ' 2026-07-11', '2026-07-11T00:00:00Z']],
    ['version', ['2026-13-01', '2026-00-10', '2026-02-30', '2026-02-00', '2027-02-29']],
    ['jobId', [undefined, 7, false, {}]],
    ['data', [undefined, null, [], 'text', 1, true]],
    ['timestamp', [undefined, null, 1_783_771_200, '', 'now', '1783771200', ['2026-07-11T12:00:00Z']]],
    ['timestamp', ['July 11, 2026', 'Sat, 11 Jul 2026 12:00:00 GMT', '2026-07-11 12:00:00Z', '2026-07-11T12Z']],
    ['timestamp', ['2026-07-11T12:00:00Z ', ' 2026-07-11T12:00:00Z', '2026-07-11T12:00:00Z\n', '2026-07-11T']],
    ['timestamp', ['2026-07-11T12:00:00.Z', '2026-07-11T25:00:00Z', '2026-07-11T12:60:00Z', '2026-02-30T12:00:00Z']],
    ['timestamp', ['2026-07-11T12:00:00+24:00', '2026-07-11T12:00:00+99:00', '12026-07-11T12:00:00Z']],
  ])('an envelope with a wrong %s is refused, and parseEvent names the field', (field, values) => {
    for (const value of values) {
      const envelope = JSON.parse(JSON.stringify(anEvent({ [field]: value }))); // undefined leaves the field out
      expect(isWebhookEvent(envelope), String(value)).toBe(false);
      const error = refusal(() => parseEvent(JSON.stringify(envelope)));
      expect(error).toMatchObject({ code: 'invalid_envelope', status: 400 });
      expect(error.message).toContain(`not an event: ${field} must be`);
    }
  });

  it.each([undefined, null, 42, 'evt_1', true, [], [anEvent()], () => anEvent(), Symbol('evt_1'), 1n])(
    'a value that is no object is no event: %#',
    (value) => {
      expect(isWebhookEvent(value)).toBe(false);
    },
  );

  it('fields in a "__proto__" or "constructor" of the JSON are not taken for those of the event', () => {
    const text = `{"__proto__":${bodyOf()},"constructor":${bodyOf()}}`;
    expect(isWebhookEvent(JSON.parse(text))).toBe(false);
    expect(refusal(() => parseEvent(text)).message).toContain('id must be');
  });
});

describe('parseEvent', () => {
  it('text and bytes are read alike', () => {
    const text = bodyOf({ data: { title: 'Grüße 🎧' } });
    for (const body of [text, bytes(text), Buffer.from(text), bytes(text).buffer]) {
      expect(parseEvent(body).data).toEqual({ title: 'Grüße 🎧' });
    }
  });

  it('every field of the event is as JSON has it, also an unknown one', () => {
    const event = anEvent({ region: 'eu', attempts: [1, 2] });
    expect(parseEvent(`\n ${JSON.stringify(event, null, 2)}\t`)).toEqual(event);
  });

  it('a __proto__ in the body does not become a prototype', () => {
    const event = parseEvent(bodyOf().replace('{', '{"__proto__":{"admin":true},'));
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect('admin' in event).toBe(false);
    expect('admin' in {}).toBe(false);
  });

  it.each<[string, Uint8Array]>([
    ['a byte that never occurs', Uint8Array.of(0x22, 0xff, 0x22)],
    ['a continuation byte alone', Uint8Array.of(0x22, 0x80, 0x22)],
    ['a sequence cut short', Uint8Array.of(0x22, 0xe2, 0x82, 0x22)],
    ['an overlong form', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['a surrogate', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['a code point past the last', Uint8Array.of(0x22, 0xf4, 0x90, 0x80, 0x80, 0x22)],
    ['UTF-16', new Uint8Array(Buffer.from(`\ufeff${bodyOf()}`, 'utf16le'))],
    ['latin1', new Uint8Array(Buffer.from(bodyOf({ jobId: 'é' }), 'latin1'))],
  ])('a body that is not UTF-8 is refused: %s', (_, body) => {
    expect(refusal(() => parseEvent(body)).code).toBe('invalid_encoding');
    expect(parseEvent(bodyOf()).id).toBe('evt_1'); // the next body is read as usual
  });

  it.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['white space', ' \n'],
    ['half an object', bodyOf().slice(0, -1)],
    ['two objects', bodyOf().repeat(2)],
    ['a byte order mark in front', `\ufeff${bodyOf()}`],
    ['a byte order mark in bytes', Buffer.from(`\ufeff${bodyOf()}`)],
    ['single quotes', bodyOf().replaceAll('"', "'")],
    ['a trailing comma', bodyOf().replace(/}$/, ',}')],
    ['a comment', `/* */${bodyOf()}`],
    ['NaN', '{"id":NaN}'],
    ['a NUL behind', `${bodyOf()}\0`],
    ['a bare word', 'undefined'],
    ['form data', 'payload=%7B%7D'],
  ])('a body that is not JSON is refused: %s', (_, body) => {
    expect(refusal(() => parseEvent(body)).code).toBe('invalid_json');
  });

  it.each(['null', '42', '"evt_1"', 'true', '[]', `[${bodyOf()}]`])('JSON that is no object is refused: %s', (text) => {
    expect(refusal(() => parseEvent(text))).toMatchObject({
      code: 'invalid_envelope',
      message: expect.stringContaining('it is not a JSON object'),
    });
  });

  it('a body that nests a hundred thousand times is refused', () => {
    const error = refusal(() => parseEvent('['.repeat(100_000)));
    expect(['invalid_json', 'invalid_envelope']).toContain(error.code);
    expect(refusal(() => parseEvent(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).status).toBe(400);
  });

  it('an object is refused as parsed already', () => {
    const error = refusal(() => parseEvent(anEvent() as unknown as string));
    expect(error.code).toBe('body_already_parsed');
    expect(error.hint).toMatch(/raw body/);
  });

  it('the error has no SyntaxError, which would quote the body', () => {
    const error = refusal(() => parseEvent('{"secret-payload": oops}'));
    expect(error.cause).toBeUndefined();
    expect(`${error.message}${error.hint}${error.stack}`).not.toContain('oops');
  });
});

describe('isEvent', () => {
  const generation = (data: Record<string, unknown>) =>
    anEvent({ type: 'generation.completed', data }) as unknown as WebhookEvent;
  const good = { clipId: 'clip_1', feature: 'tts', durationSec: 1.5, downloadUrl: 'https://files.example/clip_1' };

  it('an event is checked by its type alone where the specification shows no data', () => {
    const event = anEvent() as unknown as WebhookEvent;
    expect(isEvent(event, 'stt.completed')).toBe(true);
    expect(isEvent(event, 'stt.failed')).toBe(false);
    expect(isEvent(event, 'generation.completed')).toBe(false);
  });

  it('a generation.completed is accepted with the data of its type', () => {
    expect(isEvent(generation(good), 'generation.completed')).toBe(true);
    expect(isEvent(generation({ ...good, more: [] }), 'generation.completed')).toBe(true);
    expect(isEvent(generation({ ...good, durationSec: 0 }), 'generation.completed')).toBe(true);
  });

  it.each<[string, unknown[]]>([
    ['clipId', [undefined, 1]],
    ['feature', [undefined, null]],
    ['durationSec', [undefined, '1.5', Number.POSITIVE_INFINITY]],
    ['downloadUrl', [undefined, {}]],
  ])('a generation.completed with a wrong %s is refused, although it is a valid event', (field, values) => {
    for (const value of values) {
      const event = generation({ ...good, [field]: value });
      expect([isEvent(event, 'generation.completed'), isWebhookEvent(event)]).toEqual([false, true]);
    }
  });
});

it.each<[boolean, string[]]>([
  [true, [...WEBHOOK_EVENT_TYPES]],
  [false, ['video.completed', 'STT.COMPLETED', 'stt', 'stt.completed.v2', 'constructor', '__proto__', '*']],
])('isKnownEvent is %s for %j', (expected, types) => {
  for (const type of types) expect(isKnownEvent(anEvent({ type }) as unknown as WebhookEvent), type).toBe(expected);
});
