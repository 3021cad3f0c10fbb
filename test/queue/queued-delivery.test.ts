import { verify } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { fromQueued, type QueuedDelivery, toQueued } from '../../src/queue/index.js';
import { aDelivery, bodyOf, now, refusal, SECRET } from '../support/deliveries.js';
import { readJson } from '../support/fixtures.js';

interface QueuedVector {
  name: string;
  job: unknown;
  expect: { read: boolean; code?: string; eventId?: string; type?: string; body?: string; [field: string]: unknown };
}

const vectors = readJson<QueuedVector[]>('queued-deliveries.json');

describe('the vectors of queued deliveries', () => {
  it('at least 30 vectors of both kinds have a name of their own', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(30);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    expect(new Set(vectors.map(({ expect: { read } }) => read))).toEqual(new Set([true, false]));
  });

  it.each(vectors.filter(({ expect: { read } }) => read))('$name is read', ({ job, expect: expected }) => {
    const { event, body, ...delivery } = fromQueued(job);
    const { eventId, type, body: base64, read: _, ...rest } = expected;
    expect({ eventId: event.id, type: event.type }).toEqual({ eventId, type });
    expect(Buffer.from(body).toString('base64')).toBe(base64);
    expect(JSON.parse(JSON.stringify(delivery))).toEqual(rest);
  });

  it.each(vectors.filter(({ expect: { read } }) => !read))('$name is refused', ({ job, expect: { code } }) => {
    expect(refusal(() => fromQueued(job)).code).toBe(code);
  });
});

describe('a delivery that becomes a job', () => {
  const delivered = (body = bodyOf()) => verify({ ...aDelivery({ body }), secret: SECRET, now });
  const through = (queued: QueuedDelivery) => fromQueued(JSON.parse(JSON.stringify(queued)));

  it('a worker gets the same delivery out of the JSON', () => {
    const delivery = delivered();
    const { body, ...rest } = through(toQueued(delivery, 'test:evt_1', 1));
    expect(Buffer.from(body)).toEqual(Buffer.from(delivery.body));
    expect(rest).toEqual({ ...rest, ...JSON.parse(JSON.stringify({ ...delivery, body: undefined })) });
  });

  it('a delivery without a tenant has no such property after the queue', () => {
    expect(through(toQueued(delivered(), 'test:evt_1', 1))).not.toHaveProperty('tenant');
  });

  it('the error has a cause only where reading the body threw', () => {
    const queued = toQueued(delivered(), 'test:evt_1', 1);
    expect(refusal(() => fromQueued({ ...queued, body: '' }))).toHaveProperty('cause', expect.any(Error));
    expect(refusal(() => fromQueued({ ...queued, v: 2 }))).not.toHaveProperty('cause');
  });

  it('an event that was made by a reconciliation stays marked, and no other value takes its place', () => {
    const made = toQueued(
      { ...delivered(), scheme: 'reconciled', signedAt: undefined, secretIndex: -1 },
      'test:evt_1',
      1,
    );
    expect(through(made)).toMatchObject({ scheme: 'reconciled', secretIndex: -1 });
    expect(refusal(() => fromQueued({ ...made, secretIndex: 0 })).code).toBe('unreadable_job');
    expect(refusal(() => fromQueued({ ...made, scheme: 'v2' })).code).toBe('unreadable_job');
  });

  it('a body of 5 MiB keeps every byte', () => {
    const event = JSON.stringify({ ...delivered().event, data: { text: 'é\u0000日'.repeat(480_000) } });
    const { body } = through(toQueued(delivered(event), 'test:evt_1', 1));
    expect(Buffer.compare(Buffer.from(body), Buffer.from(event))).toBe(0);
  });

  it('the error says which version a job has, or which field is wrong', () => {
    const queued = toQueued(delivered(), 'test:evt_1', 1);
    const message = (job: object) => refusal(() => fromQueued(job)).message;
    expect(message({ ...queued, body: 7 })).toContain('body of the job is missing or has another form');
    expect(message({ ...queued, v: 2 })).toContain('The job has version 2, and this worker reads version 1.');
    expect(message({ ...queued, v: undefined })).toContain('The job has no version, and this worker reads version 1.');
    expect(message({ ...queued, receivedAt: 'x' })).toContain('receivedAt of the job is missing or has another form');
    expect(message({ ...queued, body: '*' })).toContain('The body of the job is not base64.');
    expect(message({ ...queued, body: '' })).toContain('The body of the job is not an event');
  });
});
