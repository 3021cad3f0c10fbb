import { isEvent, PAYLOAD_VERSION } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { newEvent } from '../../src/delivery/emitted-event.js';
import { createRandom } from '../../src/random.js';

const NOW = Date.UTC(2026, 6, 11, 9);
const random = createRandom('events');
const create = (n: number, type: string, overrides: Parameters<typeof newEvent>[3] = {}) =>
  newEvent(random, n, type, overrides, NOW);

describe('newEvent', () => {
  it('an event of a known type is a sample with its own id and time', () => {
    const { event, emitted } = create(1, 'stt.completed');
    expect(isEvent(event as never, 'stt.completed')).toBe(true);
    expect(event).toMatchObject({ id: random.id('evt', 1), timestamp: '2026-07-11T09:00:00.000Z' });
    expect(event.id).toMatch(/^evt_/);
    expect(JSON.parse(new TextDecoder().decode(emitted.body))).toEqual(event);
  });

  it('an event of an unknown type has an envelope with empty data', () => {
    expect(create(1, 'music.completed').event).toEqual({
      id: random.id('evt', 1),
      type: 'music.completed',
      version: PAYLOAD_VERSION,
      jobId: null,
      data: {},
      timestamp: '2026-07-11T09:00:00.000Z',
    });
  });

  it.each(['stt.completed', 'music.completed'])('every field of a %s event can be overridden', (type) => {
    const overrides = { id: 'evt_a', timestamp: '2020-01-01T00:00:00.000Z', jobId: 'job_a', version: '2020-01-01' };
    const { event, emitted } = create(1, type, overrides);
    expect(event).toMatchObject({ ...overrides, type });
    expect(emitted).toMatchObject({ id: 'evt_a', type });
  });

  it('the id and the Idempotency-Key depend on the number of the event', () => {
    const [one, two] = [create(1, 'stt.completed'), create(2, 'stt.completed')];
    expect(one.emitted.idempotencyKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(one.emitted.idempotencyKey).not.toBe(two.emitted.idempotencyKey);
    expect(one.event.id).not.toBe(two.event.id);
    expect(create(1, 'stt.completed')).toEqual(one);
  });

  it.each(['', 7])('the type %j is refused', (type) => {
    expect(() => create(1, type as string)).toThrow('type must be an event type, such as stt.completed');
  });

  it('an event that cannot be written as JSON is refused', () => {
    const data = { n: 1n };
    expect(() => create(1, 'music.completed', { data })).toThrow('overrides cannot be written as JSON');
    const nothing = { toJSON: () => undefined };
    expect(() => create(1, 'music.completed', nothing as never)).toThrow('overrides cannot be written as JSON');
  });
});
