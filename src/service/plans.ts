/** The limits of a plan. They belong to the account, not to a key. */
export interface Plan {
  name: string;
  /** Whether live keys work. A plan without API access has only a sandbox key. */
  apiAccess: boolean;
  /** Requests per minute; null for a plan without API access. */
  requestsPerMinute: number | null;
  /** Requests per day; `Infinity` where the plan is unlimited; null for a plan without API access. */
  requestsPerDay: number | null;
  concurrentGenerations: number;
  /** The largest number of account keys. For a plan without API access it is the one sandbox key. */
  accountKeys: number;
}

/** A plan's identifier, as the header `x-plan` carries it: its name in upper case. */
export type PlanType = 'FREE' | 'STARTER' | 'CREATOR' | 'STANDARD' | 'PROFESSIONAL' | 'BUSINESS' | 'ENTERPRISE';

/**
 * The default limits of every plan, by its identifier. The service's support may override any of them for an account:
 * `client.account.apiLimits()` returns the numbers that apply.
 */
export const PLANS: Readonly<Record<PlanType, Readonly<Plan>>> = {
  FREE: plan('Free', null, null, 2, 1),
  STARTER: plan('Starter', null, null, 3, 1),
  CREATOR: plan('Creator', 20, 2_000, 5, 2),
  STANDARD: plan('Standard', 60, 10_000, 10, 3),
  PROFESSIONAL: plan('Professional', 100, 10_000, 15, 5),
  BUSINESS: plan('Business', 500, 100_000, 20, 20),
  ENTERPRISE: plan('Enterprise', 2_000, Number.POSITIVE_INFINITY, 50, 100),
};

function plan(
  name: string,
  requestsPerMinute: number | null,
  requestsPerDay: number | null,
  concurrentGenerations: number,
  accountKeys: number,
): Plan {
  const apiAccess = requestsPerMinute !== null;
  return { name, apiAccess, requestsPerMinute, requestsPerDay, concurrentGenerations, accountKeys };
}
