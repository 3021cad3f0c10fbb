import {
  type EventType,
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  PAYLOAD_VERSION,
  WEBHOOK_EVENT_TYPES,
} from 'service-webhooks';
import type { StandardSchemaV1 } from 'service-webhooks/standard-schema';
import { sampleEvent } from 'service-webhooks/testing';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { refusal } from '../support/deliveries.js';

describe('sampleEvent', () => {
  it.each(WEBHOOK_EVENT_TYPES)('an event of %s is a valid envelope', (type) => {
    const event = sampleEvent(type);
    expect(isWebhookEvent(event) && isKnownEvent(event)).toBe(true);
    expect(event).toMatchObject({ type, version: PAYLOAD_VERSION });
    expect(Object.keys(event).sort()).toEqual(['data', 'id', 'jobId', 'timestamp', 'type', 'version']);
  });

  it('data has exactly the fields that the specification shows', () => {
    const event = sampleEvent('generation.completed');
    expect(isEvent(event, 'generation.completed')).toBe(true);
    expect(Object.keys(event.data).sort()).toEqual(['clipId', 'downloadUrl', 'durationSec', 'feature']);
    expect(event.data.downloadUrl).toMatch(/^https:/);
    for (const type of WEBHOOK_EVENT_TYPES.filter((type) => type !== 'generation.completed')) {
      expect(sampleEvent(type).data, type).toEqual({});
    }
  });

  it.each<[job: string | null, types: EventType[]]>([
    [null, ['trigger.failed']],
    ['clip_1', ['generation.completed', 'generation.failed', 'stt.completed', 'stt.failed', 'trigger.completed']],
    ['clip_1', ['voice_enhancement.completed', 'voice_enhancement.failed']],
    ['project_1', ['export.completed', 'export.failed']],
    ['dubbing_1', ['dubbing.completed', 'dubbing.failed']],
    ['subtitle_1', ['subtitle.completed', 'subtitle.failed']],
    ['run_1', ['workflow_run.completed', 'workflow_run.failed']],
  ])('jobId is %s for the types %j', (job, types) => {
    for (const type of types) expect(sampleEvent(type, { id: 'evt_1' }).jobId, type).toBe(job);
  });

  it('jobId and data.clipId are the same, whichever is given', () => {
    const { jobId, data } = sampleEvent('generation.completed');
    expect(data.clipId).toBe(jobId);
    expect(sampleEvent('generation.completed', { data: { clipId: 'clip_9' } }).jobId).toBe('clip_9');
    expect(sampleEvent('generation.completed', { jobId: 'clip_9' }).data.clipId).toBe('clip_9');
    expect(sampleEvent('generation.completed').data.clipId).toMatch(/^clip_/);
    expect(sampleEvent('export.completed', { id: 'evt_1', data: { clipId: 'clip_9' } }).jobId).toBe('project_1');
  });

  it('each call gives another event, and the same one for the same id and timestamp', () => {
    expect(sampleEvent('stt.failed').id).not.toBe(sampleEvent('stt.failed').id);
    const given = { id: 'evt_1', timestamp: '2026-07-11T12:00:00Z' };
    expect(sampleEvent('stt.failed', given)).toEqual(sampleEvent('stt.failed', given));
    expect(sampleEvent('stt.failed', given)).toMatchObject({ ...given, jobId: 'clip_1' });
    expect(sampleEvent('stt.failed', { id: 'my_evt_1' }).jobId).toBe('clip_my_evt_1');
    expect(sampleEvent('stt.failed').id).toMatch(/^evt_[0-9a-f]{32}$/);
  });

  it('the timestamp is the current time, also under fake timers', () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1), toFake: ['Date'] });
    expect(sampleEvent('stt.failed').timestamp).toBe('2030-01-01T00:00:00.000Z');
  });

  it('overrides replace fields of the event and of its data, unless they are undefined', () => {
    const overrides = { jobId: 'clip_2', version: '2027-01-01', data: { durationSec: 1, note: 'x' } };
    const event = sampleEvent('generation.completed', { ...overrides, timestamp: undefined });
    expect(event).toMatchObject(overrides);
    expect(event.data.feature).toBe('text-to-speech');
    expect(isWebhookEvent(event)).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['WEBHOOK_EVENT_TYPES', 'generation.complete', undefined],
    ['WEBHOOK_EVENT_TYPES', 'toString', undefined],
    ['WEBHOOK_EVENT_TYPES', undefined, undefined],
    ['overrides', 'stt.failed', null],
  ])('the error for the arguments names %s: %j, %j', (named, type, overrides) => {
    expect(refusal(() => sampleEvent(type as 'stt.failed', overrides as object))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(named),
    });
  });
});

describe('sampleEvent with a schema', () => {
  const schema = z.object({ text: z.string(), language: z.string().default('en') });

  it('the event has the data as given, before the defaults of the schema', () => {
    const event = sampleEvent('stt.completed', { id: 'evt_1', data: { text: 'Hello' } }, schema);
    expect(event).toMatchObject({ id: 'evt_1', type: 'stt.completed', jobId: 'clip_1' });
    expect(event.data).toEqual({ text: 'Hello' });
    expect(isEvent(event, 'stt.completed', schema)).toBe(true);
  });

  it('data that the schema refuses is an error that names the fields', () => {
    const sample = () => sampleEvent('stt.completed', { data: { text: 4711 as never } }, schema);
    expect(refusal(sample)).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^overrides\.data does not match the schema: data\.text\. /),
    });
  });

  it('a sample of generation.completed has its documented fields as well', () => {
    const documented = z.object({ clipId: z.string(), voice: z.string() });
    const { data } = sampleEvent('generation.completed', { data: { clipId: 'clip_1', voice: 'Ada' } }, documented);
    expect(data).toMatchObject({ clipId: 'clip_1', voice: 'Ada', feature: expect.any(String) });
  });

  it.each<[string, StandardSchemaV1, string]>([
    ['is asynchronous', z.object({}).refine(async () => true), 'schema validates asynchronously. Use withSchemas'],
    ['is none', {} as StandardSchemaV1, 'schema is not a schema of Standard Schema, version 1.'],
  ])('a schema that %s is refused', (_, schema, message) => {
    const sample = () => sampleEvent('stt.completed', { data: {} }, schema);
    expect(refusal(sample)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(message) });
  });
});
