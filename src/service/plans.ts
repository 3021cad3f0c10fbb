/** What a plan allows (specification, section 8.1). Limits are those of the account, not of a key. */
export interface Plan {
  name: string;
  /** Whether live keys work; without it, only a sandbox key. */
  apiAccess: boolean;
  /** Null where the specification has none: on plans that have only a sandbox key. */
  requestsPerMinute: number | null;
  /** Infinity where the plan has no limit; null as above. */
  requestsPerDay: number | null;
  concurrentGenerations: number;
  /** How many account keys; one sandbox key where there is no API access. */
  accountKeys: number;
}

/** A plan's identifier, as `x-plan` has it: its name in upper case. */
export type PlanType = 'FREE' | 'STARTER' | 'CREATOR' | 'STANDARD' | 'PROFESSIONAL' | 'BUSINESS' | 'ENTERPRISE';

/** The plans, by the identifier (section 8.1): requests per minute and day, concurrent generations, account keys. */
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
