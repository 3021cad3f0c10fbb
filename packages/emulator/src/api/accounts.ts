import { check, checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import { PLANS, type PlanType } from 'service-webhooks/service';
import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import { createRateWindows, type RateWindows } from './rate-windows.js';

/** The settings of an account. A limit that is not set is the plan's. */
export interface AccountSettings {
  /** The plan. Default: `'PROFESSIONAL'`. */
  plan?: PlanType | undefined;
  /** Overrides the plan's requests per minute, as the service's support can. The route `api-limits` reports it. */
  requestsPerMinute?: number | undefined;
  /** Overrides the plan's requests per day. */
  requestsPerDay?: number | undefined;
  /** Overrides the plan's number of account keys. */
  maxKeys?: number | undefined;
  /** The credit balance, which no request changes. Default: 100 000. */
  creditsRemaining?: number | undefined;
  /** The monthly allocation of credits. Default: 100 000. */
  creditsPerMonth?: number | undefined;
}

export interface AccountRecord {
  readonly id: string;
  settings: AccountSettings;
  readonly windows: RateWindows;
}

export interface Accounts {
  readonly byId: Map<string, AccountRecord>;
  create(settings: AccountSettings): AccountRecord;
  update(id: string, settings: AccountSettings): AccountRecord;
}

export function createAccounts(random: Random, totals: Totals): Accounts {
  const byId = new Map<string, AccountRecord>();
  return {
    byId,
    create(settings) {
      totals.accounts += 1;
      const id = random.id('acc', totals.accounts);
      const account = { id, settings: checked(settings), windows: createRateWindows() };
      byId.set(id, account);
      return account;
    },
    update(id, settings) {
      checkObject('settings', settings);
      const account = byId.get(id);
      check(account !== undefined, `account ${id} does not exist`);
      account.settings = checked({ ...account.settings, ...settings });
      return account;
    },
  };
}

const DEFAULT_PLAN: PlanType = 'PROFESSIONAL';
const DEFAULT_CREDITS = 100_000;

/** Stands for "unlimited" in fields and headers that hold an integer. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The limits of a sandbox key on plans without documented limits: those of the lowest plan with live keys. */
const SANDBOX_ONLY = { requestsPerMinute: 20, requestsPerDay: 2_000 } as const;

/** Returns the plan of an account, with the limits that apply to it. */
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

/** Returns the credits of an account. No request to the emulator costs any. */
export function creditsOf({ settings }: AccountRecord): { remaining: number; perMonth: number } {
  const { creditsRemaining = DEFAULT_CREDITS, creditsPerMonth = DEFAULT_CREDITS } = settings;
  return { remaining: creditsRemaining, perMonth: creditsPerMonth };
}

const SETTINGS = ['plan', 'requestsPerMinute', 'requestsPerDay', 'maxKeys', 'creditsRemaining', 'creditsPerMonth'];

function checked(settings: AccountSettings): AccountSettings {
  checkObject('settings', settings);
  checkKnownOptions('the settings of an account', settings, SETTINGS);
  const { plan = DEFAULT_PLAN, ...limits } = settings;
  check(Object.hasOwn(PLANS, plan), `plan must be one of ${Object.keys(PLANS).join(', ')}`);
  for (const [name, value] of Object.entries(limits)) {
    const isLimit = value === undefined || (Number.isSafeInteger(value) && value >= 0);
    check(isLimit, `${name} must be an integer, 0 or more`);
  }
  return settings;
}
