import { ApiError } from './api-error.js';
import type { ApiRequest } from './api-request.js';
import { MAX_JSON_BYTES } from './not-shown.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The JSON object of a request. @throws ApiError `invalid_json`, `invalid_body`, and what reading the body throws */
export async function readJsonObject(request: ApiRequest): Promise<Record<string, unknown>> {
  const bytes = await request.readBody();
  const mediaType = request.headers['content-type']?.split(';')[0];
  if (mediaType?.trim().toLowerCase() !== 'application/json') throw new ApiError('invalid_json');
  if (bytes.length > MAX_JSON_BYTES) throw new ApiError('invalid_body');
  const value = parse(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('invalid_body');
  return value as Record<string, unknown>;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw new ApiError('invalid_json');
  }
}
