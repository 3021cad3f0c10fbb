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

const without = (field: string) => {
  const { [field]: _, ...rest } = anEvent();
  return rest;
};

describe('the catalog', () => {
  it('has the sixteen types of the service, each once', () => {
    expect(new Set(WEBHOOK_EVENT_TYPES).size).toBe(16);
    const [subjects, ends] = [new Set<string>(), new Set<string>()];
    for (const type of WEBHOOK_EVENT_TYPES) {
      const [subject, end] = type.split('.') as [string, string];
      subjects.add(subject);
      ends.add(end);
    }
    expect([...subjects]).toEqual([
      'generation',
      'stt',
      'export',
      'trigger',
      'dubbing',
      'subtitle',
      'voice_enhancement',
      'workflow_run',
    ]);
    expect([...ends]).toEqual(['completed', 'failed']);
  });

  it('has the date of the payload schema that the types describe', () => {
    expect(PAYLOAD_VERSION).toBe('2026-07-11');
  });
});

describe('isWebhookEvent', () => {
  it.each<[string, Record<string, unknown>]>([
    ['nothing unusual', {}],
    ['an id of one character behind evt_', { id: 'evt_x' }],
    ['an id of any characters', { id: 'evt_\0 ☃ \ud83c' }],
    ['an id of 10 kB', { id: `evt_${'x'.repeat(10_000)}` }],
    ['a type nobody knows', { type: 'video.completed' }],
    ['a type of one character', { type: 'x' }],
    ['another version', { version: '2031-01-01' }],
    ['the leap day as its version', { version: '2028-02-29' }],
    ['a day that is over in Greenwich', { timestamp: '2026-08-31T23:30:00-05:00' }],
    ['a day that has not yet begun there', { timestamp: '2026-08-29T00:30:00+05:00' }],
    ['no job', { jobId: null }],
    ['an empty job id', { jobId: '' }],
    ['empty data', { data: {} }],
    ['fields that nobody described', { region: 'eu', __proto__: { more: 1 } }],
  ])('accepts an envelope with %s', (_, changes) => {
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
  ])('accepts the timestamp %s', (timestamp) => {
    expect(isWebhookEvent(anEvent({ timestamp }))).toBe(true);
  });

  it.each<[string, unknown]>([
    ['id', undefined],
    ['id', null],
    ['id', 42],
    ['id', ''],
    ['id', 'evt'],
    ['id', 'evt_'],
    ['id', 'EVT_1'],
    ['id', ' evt_1'],
    ['id', 'msg_evt_1'],
    ['id', ['evt_1']],
    ['id', { length: 5 }],
    ['type', undefined],
    ['type', null],
    ['type', ''],
    ['type', 1],
    ['type', ['stt.completed']],
    ['version', undefined],
    ['version', null],
    ['version', ''],
    ['version', 20_260_711],
    ['version', '2026-7-11'],
    ['version', '2026-07-11 '],
    ['version', ' 2026-07-11'],
    ['version', '2026-07-11T00:00:00Z'],
    ['version', '2026-13-01'],
    ['version', '2026-00-10'],
    ['version', '2026-02-30'],
    ['version', '2026-02-00'],
    ['version', '2027-02-29'],
    ['version', '2026/07/11'],
    ['version', '11-07-2026'],
    ['version', 'v20260711x'],
    ['jobId', undefined],
    ['jobId', 7],
    ['jobId', false],
    ['jobId', {}],
    ['data', undefined],
    ['data', null],
    ['data', []],
    ['data', 'text'],
    ['data', 1],
    ['data', true],
    ['timestamp', undefined],
    ['timestamp', null],
    ['timestamp', 1_783_771_200],
    ['timestamp', ''],
    ['timestamp', 'now'],
    ['timestamp', '1783771200'],
    ['timestamp', 'July 11, 2026'],
    ['timestamp', 'Sat, 11 Jul 2026 12:00:00 GMT'],
    ['timestamp', '2026-07-11 12:00:00Z'],
    ['timestamp', '2026-07-11T12:00:00Z '],
    ['timestamp', ' 2026-07-11T12:00:00Z'],
    ['timestamp', '2026-07-11T12:00:00Z\n'],
    ['timestamp', '2026-07-11T12Z'],
    ['timestamp', '2026-07-11T'],
    ['timestamp', '2026-07-11T12:00:00.Z'],
    ['timestamp', '2026-07-11T25:00:00Z'],
    ['timestamp', '2026-07-11T12:60:00Z'],
    ['timestamp', '2026-02-30T12:00:00Z'],
    ['timestamp', '2026-07-11T12:00:00+24:00'],
    ['timestamp', '2026-07-11T12:00:00+99:00'],
    ['timestamp', '12026-07-11T12:00:00Z'],
    ['timestamp', ['2026-07-11T12:00:00Z']],
  ])('refuses an envelope with %s = %j, and parseEvent names the field', (field, value) => {
    const changes = value === undefined ? without(field) : anEvent({ [field]: value });
    expect(isWebhookEvent(changes)).toBe(false);
    const error = refusal(() => parseEvent(JSON.stringify(changes)));
    expect(error).toMatchObject({ code: 'invalid_envelope', status: 400 });
    expect(error.message).toContain(`not an event: ${field} must be`);
  });

  it.each([undefined, null, 42, 'evt_1', true, [], [anEvent()], () => anEvent(), Symbol('evt_1'), 1n])(
    'refuses what is no object: %#',
    (value) => {
      expect(isWebhookEvent(value)).toBe(false);
    },
  );

  it('takes no field from a prototype that JSON brought along', () => {
    const text = `{"__proto__":${bodyOf()},"constructor":${bodyOf()}}`;
    expect(isWebhookEvent(JSON.parse(text))).toBe(false);
    expect(refusal(() => parseEvent(text)).message).toContain('id must be');
  });
});

describe('parseEvent', () => {
  it('reads text and bytes alike', () => {
    const text = bodyOf({ data: { title: 'Grüße 🎧' } });
    for (const body of [text, bytes(text), Buffer.from(text), bytes(text).buffer]) {
      expect(parseEvent(body).data).toEqual({ title: 'Grüße 🎧' });
    }
  });

  it('gives every field as JSON has it, also those it does not know', () => {
    const event = anEvent({ region: 'eu', attempts: [1, 2] });
    expect(parseEvent(`\n ${JSON.stringify(event, null, 2)}\t`)).toEqual(event);
  });

  it('does not let a __proto__ in the body become a prototype', () => {
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
  ])('refuses what is not UTF-8: %s', (_, body) => {
    expect(refusal(() => parseEvent(body)).code).toBe('invalid_encoding');
    expect(parseEvent(bodyOf()).id).toBe('evt_1'); // and the next body does not suffer for it
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
  ])('refuses what is not JSON: %s', (_, body) => {
    expect(refusal(() => parseEvent(body)).code).toBe('invalid_json');
  });

  it.each(['null', '42', '"evt_1"', 'true', '[]', `[${bodyOf()}]`])('refuses JSON that is no object: %s', (text) => {
    expect(refusal(() => parseEvent(text))).toMatchObject({
      code: 'invalid_envelope',
      message: expect.stringContaining('it is not a JSON object'),
    });
  });

  it('survives a body that nests a hundred thousand times', () => {
    const error = refusal(() => parseEvent('['.repeat(100_000)));
    expect(['invalid_json', 'invalid_envelope']).toContain(error.code);
    expect(refusal(() => parseEvent(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).status).toBe(400);
  });

  it('refuses an object as already parsed, and says what to pass', () => {
    const error = refusal(() => parseEvent(anEvent() as unknown as string));
    expect(error.code).toBe('body_already_parsed');
    expect(error.hint).toMatch(/raw body/);
  });

  it('keeps the SyntaxError to itself, since it quotes the body', () => {
    const error = refusal(() => parseEvent('{"secret-payload": oops}'));
    expect(error.cause).toBeUndefined();
    expect(`${error.message}${error.hint}${error.stack}`).not.toContain('oops');
  });
});

describe('isEvent', () => {
  const generation = (data: Record<string, unknown>) =>
    anEvent({ type: 'generation.completed', data }) as unknown as WebhookEvent;
  const good = { clipId: 'clip_1', feature: 'tts', durationSec: 1.5, downloadUrl: 'https://files.example/clip_1' };

  it('is about the type alone where the specification shows no data', () => {
    const event = anEvent() as unknown as WebhookEvent;
    expect(isEvent(event, 'stt.completed')).toBe(true);
    expect(isEvent(event, 'stt.failed')).toBe(false);
    expect(isEvent(event, 'generation.completed')).toBe(false);
  });

  it('checks the data of generation.completed, so that what the type promises is there', () => {
    expect(isEvent(generation(good), 'generation.completed')).toBe(true);
    expect(isEvent(generation({ ...good, more: [] }), 'generation.completed')).toBe(true);
    expect(isEvent(generation({ ...good, durationSec: 0 }), 'generation.completed')).toBe(true);
  });

  it.each<[string, unknown]>([
    ['clipId', undefined],
    ['clipId', 1],
    ['feature', undefined],
    ['feature', null],
    ['durationSec', undefined],
    ['durationSec', '1.5'],
    ['durationSec', Number.POSITIVE_INFINITY],
    ['downloadUrl', undefined],
    ['downloadUrl', {}],
  ])('is false for a generation.completed with %s = %j', (field, value) => {
    expect(isEvent(generation({ ...good, [field]: value }), 'generation.completed')).toBe(false);
    expect(isWebhookEvent(generation({ ...good, [field]: value }))).toBe(true);
  });
});

describe('isKnownEvent', () => {
  it.each(WEBHOOK_EVENT_TYPES)('knows %s', (type) => {
    expect(isKnownEvent(anEvent({ type }) as unknown as WebhookEvent)).toBe(true);
  });

  it.each(['video.completed', 'STT.COMPLETED', 'stt', 'stt.completed.v2', 'constructor', '__proto__', '*'])(
    'does not know %s',
    (type) => {
      expect(isKnownEvent(anEvent({ type }) as unknown as WebhookEvent)).toBe(false);
    },
  );
});
