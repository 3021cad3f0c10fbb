import { describe, expect, it } from 'vitest';
import { eventIdInKey, tenantInKey } from '../../src/queues/unopened-letter.js';

describe('the key of a delivery whose body is not read', () => {
  it.each([
    ['clips:evt_a', 'evt_a', undefined],
    ['clips:tenant=acme:evt_a', 'evt_a', 'acme'],
    ['clips:evt_a:b', 'evt_a:b', undefined],
    ['clips:tenant=acme:evt_a:b', 'evt_a:b', 'acme'],
    [`clips:sha256:${'a'.repeat(64)}`, undefined, undefined],
    ['clips:key:my-key', undefined, undefined],
    ['clips:tenant=:evt_a', undefined, undefined],
    ['clips:evt_', undefined, undefined],
    ['evt_a', undefined, undefined],
    [':evt_a', undefined, undefined],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ])('the key %s has the event %s and the tenant %s', (key, eventId, tenant) => {
    expect([eventIdInKey(key), tenantInKey(key)]).toEqual([eventId, tenant]);
  });
});
