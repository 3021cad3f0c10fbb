import { API_ERRORS, type ApiErrorCode, type ApiErrorRow } from 'service-webhooks/service';

/** The refusal of a request, with a code of the service. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly param: string | undefined;

  /** The default message is the condition in the table of errors. */
  constructor(code: ApiErrorCode, message?: string, param?: string) {
    super(message ?? API_ERRORS[code].condition);
    this.code = code;
    this.param = param;
  }
}

/** The fields of an error object that depend on the error. */
export interface ErrorParts extends Pick<ApiErrorRow, 'type' | 'status'> {
  code: string;
  message: string;
  param?: string | undefined;
}

/** Returns the error object of the service. */
export function errorObject(parts: ErrorParts, requestId: string, baseUrl: string) {
  const { type, code, message, status, param } = parts;
  const doc_url = `${baseUrl}/docs/errors/${code}`;
  return { error: { type, code, message, status, ...(param && { param }), request_id: requestId, doc_url } };
}
