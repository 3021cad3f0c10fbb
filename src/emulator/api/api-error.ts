import { API_ERRORS, type ApiErrorCode, type ApiErrorRow } from '../../service/api-errors.js';

/** A request that is refused with a code of the table. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly param: string | undefined;

  /** Without a message, the condition of the table. */
  constructor(code: ApiErrorCode, message?: string, param?: string) {
    super(message ?? API_ERRORS[code].condition);
    this.code = code;
    this.param = param;
  }
}

/** What the error object is made of. */
export interface ErrorParts extends Pick<ApiErrorRow, 'type' | 'status'> {
  code: string;
  message: string;
  param?: string | undefined;
}

/** The error object (specification, section 7.1). */
export function errorObject(parts: ErrorParts, requestId: string, baseUrl: string) {
  const { type, code, message, status, param } = parts;
  const doc_url = `${baseUrl}/docs/errors/${code}`;
  return { error: { type, code, message, status, ...(param && { param }), request_id: requestId, doc_url } };
}
