import { createHash } from 'node:crypto';
import { check, checkChoice, checkObject } from '../../check.js';
import type { Random } from '../random.js';
import type { Totals } from '../totals.js';
import { type AccountRecord, planOf } from './accounts.js';

/** The scopes that the specification names (section 5). */
export const SCOPES = ['webhooks:read', 'webhooks:write', 'analytics:read'] as const;

export type KeyKind = 'live' | 'sandbox' | 'platform';

/** What a key is made with. */
export interface KeySettings {
  /** `'live'` and `'sandbox'` are account keys; a platform key is accepted by no route of the emulator. */
  kind?: KeyKind | undefined;
  /** All that there are. */
  scopes?: readonly string[] | undefined;
  /** The holder's part in the workspace; `'owner'`. A member may not see its usage. */
  role?: 'owner' | 'admin' | 'member' | undefined;
  /** The key itself, where it has to be a certain one: `acct_` or `plat_`, then at least eight letters or digits. */
  value?: string | undefined;
}

/** A key as it is stored: by its hash. */
export interface KeyRecord {
  readonly hash: string;
  readonly accountId: string;
  readonly kind: KeyKind;
  readonly scopes: readonly string[];
  readonly role: 'owner' | 'admin' | 'member';
  revoked: boolean;
}

export interface Keys {
  /** Gives the key itself, for the only time. @throws WebhookError `invalid_option` where the plan does not allow it */
  create(account: AccountRecord, settings?: KeySettings): string;
  /** Makes sure of a key with every scope, whatever the plan allows. */
  put(account: AccountRecord, value: string): void;
  restore(key: KeyRecord): void;
  /** Gives whether there was such a key. */
  revoke(value: string): boolean;
  /** Undefined for one that is malformed, unknown or revoked. */
  find(value: string): KeyRecord | undefined;
  all(): Iterable<KeyRecord>;
  clear(): void;
}

const FORM = /^(?:acct|plat)_[A-Za-z0-9_-]{8,256}$/;

export function createKeys(random: Random, totals: Totals): Keys {
  const byHash = new Map<string, KeyRecord>();
  const of = ({ id }: AccountRecord) => [...byHash.values()].filter((key) => key.accountId === id && !key.revoked);

  const add = (account: AccountRecord, value: string, settings: KeySettings) => {
    const { kind = 'live', scopes = SCOPES, role = 'owner' } = settings;
    const key = { hash: hashOf(value), accountId: account.id, kind, scopes: [...scopes], role, revoked: false };
    byHash.set(key.hash, key);
  };

  return {
    create(account, settings = {}) {
      checkObject('settings', settings);
      const { kind = 'live', role = 'owner', scopes = SCOPES } = settings;
      check(Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'), 'scopes must be strings');
      checkChoice('kind', kind, ['live', 'sandbox', 'platform']);
      checkChoice('role', role, ['owner', 'admin', 'member']);
      checkAllowed(account, kind, of(account));
      totals.keys += 1;
      const prefix = kind === 'platform' ? 'plat' : 'acct';
      const { value = random.secret(prefix, totals.keys) } = settings;
      check(FORM.test(value) && value.startsWith(prefix), `value must be ${prefix}_ and at least 8 letters or digits`);
      check(!byHash.has(hashOf(value)), 'value: there is such a key already');
      add(account, value, settings);
      return value;
    },
    put(account, value) {
      check(FORM.test(value) && value.startsWith('acct_'), 'apiKey must be acct_ and at least 8 letters or digits');
      if (!byHash.has(hashOf(value))) add(account, value, { kind: planOf(account).apiAccess ? 'live' : 'sandbox' });
    },
    restore: (key) => byHash.set(key.hash, key),
    revoke(value) {
      const key = byHash.get(hashOf(value));
      if (key !== undefined) key.revoked = true;
      return key !== undefined;
    },
    find(value) {
      const key = FORM.test(value) ? byHash.get(hashOf(value)) : undefined;
      return key?.revoked === false ? key : undefined;
    },
    all: () => byHash.values(),
    clear: () => byHash.clear(),
  };
}

/** Which keys a plan allows (specification, sections 2.1, 5 and 8.1). */
function checkAllowed(account: AccountRecord, kind: KeyKind, existing: readonly KeyRecord[]): void {
  const plan = planOf(account);
  const sandboxes = existing.filter((key) => key.kind === 'sandbox').length;
  if (kind === 'sandbox') {
    check(sandboxes === 0, 'kind: the account has its one sandbox key');
  } else {
    check(plan.apiAccess, `kind: the plan ${plan.name} has only a sandbox key`);
    check(existing.length - sandboxes < plan.maxKeys, `maxKeys: the account has its ${plan.maxKeys} keys`);
  }
}

function hashOf(value: string): string {
  return createHash('sha256').update(String(value)).digest('hex');
}
