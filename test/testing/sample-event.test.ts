import {
  type EventType,
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  PAYLOAD_VERSION,
  WEBHOOK_EVENT_TYPES,
} from 'service-webhooks';
import { sampleEvent } from 'service-webhooks/testing';
import { describe, expect, it, vi } from 'vitest';
import { refusal } from '../support/deliveries.js';

describe('a sample event', () => {
  it.each(WEBHOOK_EVENT_TYPES)('of %s is a valid envelope of that type', (type) => {
    const event = sampleEvent(type);
    expect(isWebhookEvent(event) && isKnownEvent(event)).toBe(true);
    expect(event).toMatchObject({ type, version: PAYLOAD_VERSION });
    expect(Object.keys(event).sort()).toEqual(['data', 'id', 'jobId', 'timestamp', 'type', 'version']);
  });

  it('has the fields of data that the specification shows, and no others', () => {
    const event = sampleEvent('generation.completed');
    expect(isEvent(event, 'generation.completed')).toBe(true);
    expect(Object.keys(event.data).sort()).toEqual(['clipId', 'downloadUrl', 'durationSec', 'feature']);
    expect(event.data.downloadUrl).toMatch(/^https:/);
    for (const type of WEBHOOK_EVENT_TYPES.filter((type) => type !== 'generation.completed')) {
      expect(sampleEvent(type).data, type).toEqual({});
    }
  });

  it('has a job, unless its type has none', () => {
    const without = WEBHOOK_EVENT_TYPES.filter((type) => sampleEvent(type).jobId === null);
    expect(without).toEqual(['trigger.failed']);
  });

  it.each<[job: string, types: EventType[]]>([
    ['clip_1', ['generation.completed', 'generation.failed', 'stt.completed', 'stt.failed', 'trigger.completed']],
    ['clip_1', ['voice_enhancement.completed', 'voice_enhancement.failed']],
    ['project_1', ['export.completed', 'export.failed']],
    ['dubbing_1', ['dubbing.completed', 'dubbing.failed']],
    ['subtitle_1', ['subtitle.completed', 'subtitle.failed']],
    ['run_1', ['workflow_run.completed', 'workflow_run.failed']],
  ])('has the job %s where its type is one of %j', (job, types) => {
    for (const type of types) expect(sampleEvent(type, { id: 'evt_1' }).jobId, type).toBe(job);
  });

  it('is about the clip that its data names', () => {
    const { jobId, data } = sampleEvent('generation.completed');
    expect(data.clipId).toBe(jobId);
    expect(sampleEvent('generation.completed', { data: { clipId: 'clip_9' } }).jobId).toBe('clip_9');
    expect(sampleEvent('generation.completed', { jobId: 'clip_9' }).data.clipId).toBe('clip_9');
    expect(sampleEvent('generation.completed').data.clipId).toMatch(/^clip_/);
    expect(sampleEvent('export.completed', { id: 'evt_1', data: { clipId: 'clip_9' } }).jobId).toBe('project_1');
  });

  it('is new each time, and the same again for the same id and timestamp', () => {
    expect(sampleEvent('stt.failed').id).not.toBe(sampleEvent('stt.failed').id);
    const given = { id: 'evt_1', timestamp: '2026-07-11T12:00:00Z' };
    expect(sampleEvent('stt.failed', given)).toEqual(sampleEvent('stt.failed', given));
    expect(sampleEvent('stt.failed', given)).toMatchObject({ ...given, jobId: 'clip_1' });
    expect(sampleEvent('stt.failed', { id: 'my_evt_1' }).jobId).toBe('clip_my_evt_1');
    expect(sampleEvent('stt.failed').id).toMatch(/^evt_[0-9a-f]{32}$/);
  });

  it('is sent now, by whatever clock the test has', () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1), toFake: ['Date'] });
    try {
      expect(sampleEvent('stt.failed').timestamp).toBe('2030-01-01T00:00:00.000Z');
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes what is different, field by field in data too; what is undefined is the default', () => {
    const overrides = {
      jobId: 'clip_2',
      version: '2027-01-01',
      timestamp: undefined,
      data: { durationSec: 1, note: 'x' },
    };
    const event = sampleEvent('generation.completed', overrides);
    expect(event).toMatchObject({ jobId: 'clip_2', version: '2027-01-01', data: { durationSec: 1, note: 'x' } });
    expect(event.data.feature).toBe('text-to-speech');
    expect(isWebhookEvent(event)).toBe(true);
  });

  it('is not made of a type that there is not', () => {
    for (const type of ['generation.complete', 'toString', undefined]) {
      expect(refusal(() => sampleEvent(type as 'stt.failed'))).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('WEBHOOK_EVENT_TYPES'),
      });
    }
  });

  it('is not made with what is no object', () => {
    expect(refusal(() => sampleEvent('stt.failed', null as never))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('overrides'),
    });
  });
});
