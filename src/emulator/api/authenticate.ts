import type { AccountRecord, Accounts } from './accounts.js';
import { planOf } from './accounts.js';
import { ApiError } from './api-error.js';
import type { ApiRequest } from './api-request.js';
import type { KeyRecord, Keys } from './keys.js';
import { WRONG_KEY_TYPE_CODE } from './not-shown.js';

/** Whoever sent a request with a key that holds. */
export interface Caller {
  readonly key: KeyRecord;
  readonly account: AccountRecord;
}

/** Says who sent a request. @throws ApiError `missing_api_key`, `invalid_api_key` */
export type Authenticate = (headers: ApiRequest['headers']) => Caller;

export function createAuthenticate(keys: Keys, accounts: Accounts, headerPrefix: string): Authenticate {
  const ownHeader = `${headerPrefix.replace(/^x-/, '')}-api-key`;
  return (headers) => {
    const [, bearer] = /^Bearer (.*)/i.exec(headers['authorization'] ?? '') ?? [];
    const value = headers[ownHeader] || headers['x-api-key'] || bearer;
    if (!value) throw new ApiError('missing_api_key');
    const key = keys.find(value.trim());
    const account = key && accounts.get(key.accountId);
    if (key === undefined || account === undefined) throw new ApiError('invalid_api_key');
    return { key, account };
  };
}

/** What a key may do. @throws ApiError `invalid_api_key`, `plan_limit_exceeded` */
export function checkAccess({ key, account }: Caller): void {
  if (key.kind === 'platform') {
    throw new ApiError(WRONG_KEY_TYPE_CODE, 'This is a platform key. An account key is needed here.');
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
