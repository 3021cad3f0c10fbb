import { oneValue, type ReadHeaders } from './headers.js';

/**
 * Headers that no signature covers: anyone between the service and you can change them. Do not base decisions on them.
 */
export interface UnsignedHeaders {
  idempotencyKey?: string | undefined;
  webhookId?: string | undefined;
  attempt?: number | undefined;
}

/** Reads the headers that no signature covers; one that occurs twice is left out. */
export function unsignedHeaders(headers: ReadHeaders): UnsignedHeaders {
  const attempt = oneValue(headers.attempt);
  return {
    idempotencyKey: oneValue(headers.idempotencyKey),
    webhookId: oneValue(headers.webhookId),
    attempt: attempt !== undefined && /^[1-9]\d{0,8}$/.test(attempt) ? Number(attempt) : undefined,
  };
}
