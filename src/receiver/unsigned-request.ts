import type { HeaderNames } from '../verify/header-names.js';
import { type HeaderSource, headerNamesOf, oneValue } from '../verify/headers.js';
import { unsignedHeaders } from '../verify/unsigned.js';
import type { UnsignedRequest } from './outcome.js';

const MAX_NAMES = 50;

/** Returns the unverified properties of a refused request. `headers` can be read repeatedly. Never throws. */
export function unsignedRequest(headers: HeaderSource, names: HeaderNames): UnsignedRequest {
  try {
    const { webhookId, attempt } = unsignedHeaders(headers, names);
    const length = oneValue(headers, 'content-length');
    return {
      webhookId: webhookId?.slice(0, 100),
      attempt,
      contentLength: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
      headerNames: headerNamesOf(headers, MAX_NAMES),
    };
  } catch {
    return { headerNames: [] }; // an adapter passed a value that is not headers
  }
}
