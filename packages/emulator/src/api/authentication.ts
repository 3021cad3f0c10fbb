import { type AccountRecord, type Accounts, planOf } from './accounts.js';
import { ApiError } from './api-error.js';
import type { ApiRequest } from './api-request.js';
import type { KeyRecord, Keys } from './keys.js';

/** The holder of a valid key. */
export interface Caller {
  readonly key: KeyRecord;
  readonly account: AccountRecord;
}

/** Identifies the caller of a request. Returns the ApiError `missing_api_key` or `invalid_api_key` where there is none. */
export type Authenticate = (headers: ApiRequest['headers']) => Caller | ApiError;

export function createAuthenticate(keys: Keys, accounts: Accounts, headerPrefix: string): Authenticate {
  const ownHeader = `${headerPrefix.replace(/^x-/, '')}-api-key`;
  return (headers) => {
    const [, bearer] = /^Bearer (.*)/i.exec(headers['authorization'] ?? '') ?? [];
    const value = headers[ownHeader] || headers['x-api-key'] || bearer;
    if (!value) return new ApiError('missing_api_key');
    const key = keys.find(value.trim());
    const account = key && accounts.byId.get(key.accountId);
    return key === undefined || account === undefined ? new ApiError('invalid_api_key') : { key, account };
  };
}

/** Checks that the key may call the API at all. @throws ApiError `invalid_api_key`, `plan_limit_exceeded` */
export function checkAccess({ key, account }: Caller): void {
  if (key.kind === 'platform') {
    throw new ApiError('invalid_api_key', 'This is a platform key. An account key is needed here.');
  }
  const plan = planOf(account);
  if (key.kind === 'live' && !plan.apiAccess) {
    throw new ApiError('plan_limit_exceeded', `The plan ${plan.name} has no API access.`);
  }
}

/** @throws ApiError `insufficient_scope` */
export function checkScope({ key }: Caller, scope: string | undefined): void {
  if (scope === undefined || key.scopes.includes(scope)) return;
  const held = key.scopes.length === 0 ? 'none' : key.scopes.join(', ');
  throw new ApiError('insufficient_scope', `The scope ${scope} is needed. The scopes of this key: ${held}.`);
}
