import { createHash } from 'node:crypto';
import { check, checkChoice, checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import { type AccountRecord, planOf } from './accounts.js';

/** The documented scopes. */
const SCOPES = ['webhooks:read', 'webhooks:write', 'analytics:read'] as const;

/** `'live'` and `'sandbox'` keys are account keys. No route of the emulator accepts a `'platform'` key. */
export type KeyKind = 'live' | 'sandbox' | 'platform';

/** The settings of a new key. */
export interface KeySettings {
  /** Default: `'live'`. */
  kind?: KeyKind | undefined;
  /** Default: the three documented scopes. */
  scopes?: readonly string[] | undefined;
  /** The holder's role in the workspace. Default: `'owner'`. A member may not read its usage. */
  role?: 'owner' | 'admin' | 'member' | undefined;
  /** The key: `acct_` or `plat_`, then at least eight letters or digits. Default: a new key. */
  value?: string | undefined;
}

/** The record of a key, which is stored as its hash. */
export interface KeyRecord {
  readonly hash: string;
  readonly accountId: string;
  readonly kind: KeyKind;
  readonly scopes: readonly string[];
  readonly role: 'owner' | 'admin' | 'member';
  revoked: boolean;
}

export interface Keys {
  readonly byHash: Map<string, KeyRecord>;
  /**
   * Returns the new key; no later call returns it. @throws WebhookError `invalid_option` where the plan does not allow
   * it
   */
  create(account: AccountRecord, settings?: KeySettings): string;
  /** Adds a key with every scope, unless it exists already. Limits of the plan do not apply. */
  put(account: AccountRecord, value: string): void;
  /** Revokes a key. Returns false where there is no such key. */
  revoke(value: string): boolean;
  /** Returns the record of a key, or undefined for a key that is malformed, unknown or revoked. */
  find(value: string): KeyRecord | undefined;
}

const FORM = /^(?:acct|plat)_[A-Za-z0-9_-]{8,256}$/;

export function createKeys(random: Random, totals: Totals): Keys {
  const byHash = new Map<string, KeyRecord>();

  const add = (account: AccountRecord, value: string, settings: KeySettings) => {
    const { kind = 'live', scopes = SCOPES, role = 'owner' } = settings;
    const key = { hash: hashOf(value), accountId: account.id, kind, scopes: [...scopes], role, revoked: false };
    byHash.set(key.hash, key);
  };

  /** Checks that a plan allows a key of this kind. */
  const checkAllowed = (account: AccountRecord, kind: KeyKind) => {
    const existing = [...byHash.values()].filter(
      (key) => key.accountId === account.id && key.kind === kind && !key.revoked,
    );
    if (kind === 'sandbox') {
      check(existing.length === 0, 'kind: the account has its one sandbox key');
      return;
    }
    const plan = planOf(account);
    check(plan.apiAccess, `kind: the plan ${plan.name} allows only a sandbox key`);
    if (kind === 'live')
      check(
        existing.length < plan.maxKeys,
        `maxKeys: the account has its ${plan.maxKeys} keys; revoke one, or raise maxKeys`,
      );
  };

  return {
    byHash,
    create(account, settings = {}) {
      checkObject('settings', settings);
      checkKnownOptions('the settings of a key', settings, ['kind', 'scopes', 'role', 'value', 'account']);
      const { kind = 'live', role = 'owner', scopes = SCOPES } = settings;
      check(Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'), 'scopes must be strings');
      checkChoice('kind', kind, ['live', 'sandbox', 'platform']);
      checkChoice('role', role, ['owner', 'admin', 'member']);
      checkAllowed(account, kind);
      totals.keys += 1;
      const prefix = kind === 'platform' ? 'plat' : 'acct';
      const { value = random.secret(prefix, totals.keys) } = settings;
      check(FORM.test(value) && value.startsWith(prefix), `value must be ${prefix}_ and at least 8 letters or digits`);
      check(!byHash.has(hashOf(value)), 'value: this key exists already');
      add(account, value, settings);
      return value;
    },
    put(account, value) {
      check(FORM.test(value) && value.startsWith('acct_'), 'apiKey must be acct_ and at least 8 letters or digits');
      if (!byHash.has(hashOf(value))) add(account, value, { kind: planOf(account).apiAccess ? 'live' : 'sandbox' });
    },
    revoke(value) {
      const key = byHash.get(hashOf(value));
      if (key !== undefined) key.revoked = true;
      return key !== undefined;
    },
    find(value) {
      const key = FORM.test(value) ? byHash.get(hashOf(value)) : undefined;
      return key?.revoked === false ? key : undefined;
    },
  };
}

function hashOf(value: string): string {
  return createHash('sha256').update(String(value)).digest('hex');
}
