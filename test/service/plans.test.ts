import { PLANS } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';

describe('PLANS', () => {
  it('each higher plan has higher limits', () => {
    const rows = Object.values(PLANS);
    expect(rows.map(({ name }) => name.toUpperCase())).toEqual(Object.keys(PLANS));
    const pairs = rows.slice(1).map((row, i) => [rows[i] as typeof row, row] as const);
    for (const [lower, higher] of pairs) {
      expect(higher.concurrentGenerations).toBeGreaterThan(lower.concurrentGenerations);
      expect(higher.requestsPerMinute ?? 0).toBeGreaterThanOrEqual(lower.requestsPerMinute ?? 0);
      expect(higher.accountKeys).toBeGreaterThanOrEqual(lower.accountKeys);
    }
  });

  it('the free plan has no API access and no request limits', () => {
    expect(PLANS.FREE).toMatchObject({ apiAccess: false, requestsPerMinute: null, requestsPerDay: null });
    expect(PLANS.ENTERPRISE).toMatchObject({ apiAccess: true, requestsPerDay: Number.POSITIVE_INFINITY });
  });
});
