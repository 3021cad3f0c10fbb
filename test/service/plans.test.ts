import { PLANS } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';

describe('PLANS', () => {
  it('allows more with each higher plan', () => {
    const rows = Object.values(PLANS);
    expect(rows.map(({ name }) => name.toUpperCase())).toEqual(Object.keys(PLANS));
    const pairs = rows.slice(1).map((row, i) => [rows[i] as typeof row, row] as const);
    for (const [lower, higher] of pairs) {
      expect(higher.concurrentGenerations).toBeGreaterThan(lower.concurrentGenerations);
      expect(higher.requestsPerMinute ?? 0).toBeGreaterThanOrEqual(lower.requestsPerMinute ?? 0);
      expect(higher.accountKeys).toBeGreaterThanOrEqual(lower.accountKeys);
    }
  });

  it('has no request limits for a plan that only has a sandbox key', () => {
    expect(PLANS.FREE).toMatchObject({ apiAccess: false, requestsPerMinute: null, requestsPerDay: null });
    expect(PLANS.ENTERPRISE).toMatchObject({ apiAccess: true, requestsPerDay: Number.POSITIVE_INFINITY });
  });
});
