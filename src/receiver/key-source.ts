import { WebhookError } from '../errors.js';
import { withTimeout } from '../timers.js';
import { oneValue, type ReadHeaders } from '../verify/headers.js';
import type { HmacKey } from '../verify/hmac.js';
import { hexOfKey, type Secret, toKeys } from '../verify/secret.js';
import type { Deadline } from './deadline.js';

/** The secrets of one tenant, as a secret function returns them. */
export interface TenantSecrets {
  /** The name of the tenant: 1 to 200 characters. It becomes `delivery.tenant` and part of every key. */
  tenant: string;
  /** The secrets of the tenant: several during a rotation, none for a delivery that must be refused. */
  secrets: readonly Secret[];
}

/**
 * One secret, several during a rotation, an object with the secrets of each tenant, or a function that fetches those of
 * one delivery. `delivery.tenant` is the tenant whose secret matched.
 */
export type SecretSource =
  | Secret
  | readonly Secret[]
  | { readonly [tenant: string]: Secret | readonly Secret[] }
  | ((hint: { webhookId?: string }) => Promise<readonly Secret[] | TenantSecrets>);

/** A key to try on a delivery, and what is known of the delivery if it matches. */
export interface OwnedKey {
  readonly key: HmacKey;
  readonly tenant: string | undefined;
  readonly secretIndex: number;
}

/** Returns the keys to try on a delivery. */
export type KeySource = (
  headers: ReadHeaders,
  deadline: Deadline,
) => readonly OwnedKey[] | Promise<readonly OwnedKey[]>;

/** @throws WebhookError `invalid_secret` */
export function keySource(secret: SecretSource): KeySource {
  if (typeof secret !== 'function') {
    const keys = isTenants(secret) ? keysOfTenants(secret) : ownedKeys(secret);
    return () => keys;
  }
  return async (headers, deadline) => {
    const webhookId = oneValue(headers.webhookId);
    const hint = webhookId === undefined ? {} : { webhookId };
    const found: unknown = await withTimeout(deadline.remaining(), () => secret(hint)).catch((cause) => {
      throw new WebhookError('secret_unavailable', { cause });
    });
    // A sender can name an endpoint that does not exist: without a secret, no signature matches.
    if (found === undefined || found === null) return [];
    const isList = typeof found !== 'object' || Array.isArray(found) || ArrayBuffer.isView(found);
    const { tenant, secrets } = isList ? { tenant: undefined, secrets: found } : tenantSecrets(found);
    return Array.isArray(secrets) && secrets.length === 0 ? [] : ownedKeys(secrets as readonly Secret[], tenant);
  };
}

type Tenants = { readonly [tenant: string]: Secret | readonly Secret[] };

/** Returns whether a value is a plain object, and not bytes, a list or an instance of a class. */
function isTenants(value: unknown): value is Tenants {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** @throws WebhookError `invalid_secret` */
function keysOfTenants(tenants: Tenants): readonly OwnedKey[] {
  const names = Object.keys(tenants);
  if (names.length === 0) throw invalid('secret is an object without tenants.');
  // It would be read as two tenants, named 'tenant' and 'secrets'.
  if (names.length === 2 && 'tenant' in tenants && 'secrets' in tenants) {
    throw invalid(
      'secret has the form { tenant, secrets }, which a secret function returns.',
      'Pass { acme: secrets } with the names of your tenants, or an async function that returns { tenant, secrets }.',
    );
  }
  const keys = names.flatMap((name) => ownedKeys(tenants[name] as Secret, checkedTenant(name)));
  const owners = new Map<string, string | undefined>();
  for (const { key, tenant } of keys) {
    const hex = hexOfKey(key);
    const owner = owners.get(hex) ?? tenant;
    owners.set(hex, owner);
    if (owner === tenant) continue;
    throw invalid(
      `The tenants ${JSON.stringify(owner)} and ${JSON.stringify(tenant)} have the same secret, so that a delivery does not say whose it is.`,
      'Give each tenant an endpoint, and so a secret, of its own.',
    );
  }
  return keys;
}

function ownedKeys(secrets: Secret | readonly Secret[], tenant?: string): OwnedKey[] {
  const name = tenant === undefined ? 'secret' : `secret[${JSON.stringify(tenant)}]`;
  return toKeys(secrets, name).map((key, secretIndex) => ({ key, tenant, secretIndex }));
}

/** @throws WebhookError `invalid_secret` for what a secret function must not return */
function tenantSecrets(found: object): { tenant: string; secrets: unknown } {
  const { tenant, secrets, ...others } = found as Partial<TenantSecrets>;
  if (tenant === undefined || secrets === undefined || Object.keys(others).length > 0) {
    throw invalid(
      'The secret function returned an object that is not { tenant, secrets }.',
      'Return a list of secrets, or an object with these two fields: the name of a tenant, and the list of its secrets.',
    );
  }
  return { tenant: checkedTenant(tenant), secrets };
}

const MAX_TENANT_LENGTH = 200;

function checkedTenant(tenant: unknown): string {
  if (typeof tenant === 'string' && tenant !== '' && tenant.length <= MAX_TENANT_LENGTH) return tenant;
  throw invalid(`The name of a tenant must be a text of 1 to ${MAX_TENANT_LENGTH} characters.`);
}

function invalid(message: string, hint?: string): WebhookError {
  return new WebhookError('invalid_secret', { message, hint });
}
