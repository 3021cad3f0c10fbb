const FIRST = 'tenant-1';

/** Returns the names of the tenants of a world. */
export function tenantNames(count: number): readonly [string, ...string[]] {
  const others = Array.from({ length: count - 1 }, (_, i) => `tenant-${i + 2}`);
  return [FIRST, ...others];
}

/**
 * Returns an id that is unique among all tenants. Without a tenant it is the first one's, because a receiver with one secret
 * knows none.
 */
export function ofTenant(tenant: string | undefined, id: string): string {
  return tenant === undefined || tenant === FIRST ? id : `${id} of ${tenant}`;
}
