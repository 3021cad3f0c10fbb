import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { leftOut, readOwnEvent } from '../../src/page/own-event.js';
import { sampleOf } from '../../src/page/server/page-server.js';

describe('an event written on the page', () => {
  it.each(WEBHOOK_EVENT_TYPES)('the sample of %s is a valid event', (type) => {
    const { json = '' } = sampleOf(type) ?? {};
    const { event, warning } = readOwnEvent(json);
    expect([event?.type, warning]).toEqual([type, undefined]);
    expect(Object.keys(event ?? {})).not.toEqual(expect.arrayContaining(['id']));
    expect(Object.keys(event ?? {})).not.toEqual(expect.arrayContaining(['timestamp']));
  });

  it.each([
    ['', 'This is not JSON: Unexpected end of JSON input.'],
    ['{"type": "a",}', /^This is not JSON: .+ at position 13/],
    ['[]', 'The event must be a JSON object.'],
    ['null', 'The event must be a JSON object.'],
    ['{}', 'type must be a string that is not empty.'],
    ['{"type": ""}', 'type must be a string that is not empty.'],
    ['{"type": "a", "id": "7"}', 'id must be a string that begins with evt_ and goes on.'],
    ['{"type": "a", "data": []}', 'data must be an object.'],
    ['{"type": "a", "jobId": 7}', 'jobId must be a string or null.'],
    ['{"type": "a", "version": "2026"}', 'version must be a date, YYYY-MM-DD.'],
    ['{"type": "a", "timestamp": "2026-02-30"}', 'timestamp must be an ISO 8601 date.'],
  ])('%j is refused with the reason', (json, problem) => {
    const read = readOwnEvent(json);
    expect(read.event).toBeUndefined();
    expect(read.problem).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  });

  it('an event of more than 60,000 characters is refused', () => {
    const { problem } = readOwnEvent(`{"type": "${'a'.repeat(60_000)}"}`);
    expect(problem).toBe('The event has more than 60000 characters.');
  });

  it('data that the service sends may be missing, with a warning', () => {
    const read = readOwnEvent('{"type": "generation.completed", "data": {"clipId": "clip_1", "feature": "x"}}');
    expect(read).toMatchObject({ event: { type: 'generation.completed' }, warning: 'The service sends data.durationSec as a number.' }); // biome-ignore format: one event
    expect(read.event && leftOut(read.event)).toEqual({ durationSec: undefined, downloadUrl: undefined });
  });

  it.each(['constructor', 'voice.retired', '__proto__'])('the unknown type %s is accepted', (type) => {
    expect(readOwnEvent(JSON.stringify({ type }))).toEqual({ event: { type, data: {} } });
    expect(leftOut({ type, data: {} })).toEqual({});
    expect(sampleOf(type)).toBeUndefined();
  });
});
