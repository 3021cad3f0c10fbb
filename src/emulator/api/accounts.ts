import { check, checkObject } from '../../check.js';
import { PLANS, type PlanType } from '../../service/plans.js';
import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import { DEFAULT_CREDITS, NO_LIMIT, SANDBOX_ONLY } from './not-shown.js';
import { createRateWindows, type RateWindows } from './rate-windows.js';

/** What can be set of an account. What is left out stays, or is the plan's. */
export interface AccountSettings {
  plan?: PlanType | undefined;
  /** Another number than the plan has; `api-limits` reports it. */
  requestsPerMinute?: number | undefined;
  requestsPerDay?: number | undefined;
  maxKeys?: number | undefined;
  creditsRemaining?: number | undefined;
  creditsPerMonth?: number | undefined;
}

export interface AccountRecord {
  readonly id: string;
  settings: AccountSettings;
  readonly windows: RateWindows;
}

export interface Accounts {
  create(settings: AccountSettings): AccountRecord;
  update(id: string, settings: AccountSettings): AccountRecord;
  restore(account: AccountRecord): void;
  get(id: string): AccountRecord | undefined;
  all(): Iterable<AccountRecord>;
  clear(): void;
}

export function createAccounts(random: Random, totals: Totals): Accounts {
  const byId = new Map<string, AccountRecord>();
  return {
    create(settings) {
      totals.accounts += 1;
      const id = random.id('acc', totals.accounts);
      const account = { id, settings: checked(settings), windows: createRateWindows() };
      byId.set(id, account);
      return account;
    },
    update(id, settings) {
      const account = byId.get(id);
      check(account !== undefined, `account ${id} does not exist`);
      account.settings = checked({ ...account.settings, ...settings });
      return account;
    },
    restore: (account) => byId.set(account.id, account),
    get: (id) => byId.get(id),
    all: () => byId.values(),
    clear: () => byId.clear(),
  };
}

const DEFAULT_PLAN: PlanType = 'PROFESSIONAL';

/** The plan of an account with the numbers that apply to it. */
export function planOf({ settings }: AccountRecord) {
  const type = settings.plan ?? DEFAULT_PLAN;
  const { name, apiAccess, accountKeys, requestsPerMinute, requestsPerDay } = PLANS[type];
  return {
    type,
    name,
    apiAccess,
    requestsPerMinute: settings.requestsPerMinute ?? requestsPerMinute ?? SANDBOX_ONLY.requestsPerMinute,
    requestsPerDay: Math.min(settings.requestsPerDay ?? requestsPerDay ?? SANDBOX_ONLY.requestsPerDay, NO_LIMIT),
    maxKeys: settings.maxKeys ?? accountKeys,
  };
}

/** The credits of an account. Nothing that the emulator answers costs any. */
export function creditsOf({ settings }: AccountRecord): { remaining: number; perMonth: number } {
  const { creditsRemaining = DEFAULT_CREDITS, creditsPerMonth = DEFAULT_CREDITS } = settings;
  return { remaining: creditsRemaining, perMonth: creditsPerMonth };
}

function checked(settings: AccountSettings): AccountSettings {
  checkObject('settings', settings);
  const { plan = DEFAULT_PLAN, ...numbers } = settings;
  check(Object.hasOwn(PLANS, plan), `plan must be one of ${Object.keys(PLANS).join(', ')}`);
  for (const [name, value] of Object.entries(numbers)) {
    const holds = value === undefined || (Number.isSafeInteger(value) && value >= 0);
    check(holds, `${name} must be an integer, 0 or more`);
  }
  return settings;
}
