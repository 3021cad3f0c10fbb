import { headerNamesOf, oneValue, type ReadHeaders } from '../verify/headers.js';
import { unsignedHeaders } from '../verify/unsigned.js';
import type { UnsignedRequest } from './outcome.js';

const MAX_NAMES = 50;

/** Returns the unverified properties of a refused request. Never throws. */
export function unsignedRequest(read: () => ReadHeaders): UnsignedRequest {
  try {
    const headers = read();
    const { webhookId, attempt } = unsignedHeaders(headers);
    const length = oneValue(headers.contentLength);
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
