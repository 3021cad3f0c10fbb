/** The categories of errors (specification, section 7.1). */
export type ApiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'billing_error'
  | 'rate_limit_error'
  | 'media_processing_error'
  | 'api_error';

/**
 * Whether the same request may be sent again (specification, section 7.3): `'now'` with exponential backoff, `'later'`
 * after the seconds of `Retry-After`, `'after-job'` when a running job has ended (waiting alone does not help), `'never'`
 * as long as its cause is there.
 */
export type Retry = 'never' | 'later' | 'after-job' | 'now';

/** What goes with a code. */
export interface ApiErrorRow {
  status: number;
  type: ApiErrorType;
  /** When it is answered, and what to do about it. */
  condition: string;
  retry: Retry;
}

/** The table of section 7.2: code, HTTP status, type, condition and handling. */
const ROWS = [
  ['validation_error', 422, 'invalid_request_error', 'A parameter failed validation. Not retryable as is.'],
  ['invalid_request', 400, 'invalid_request_error', 'Malformed or conflicting parameters.'],
  ['invalid_input', 400, 'invalid_request_error', 'Empty, out-of-range or unsupported value.'],
  ['invalid_body', 400, 'invalid_request_error', "Body does not match the endpoint's schema."],
  ['text_required', 400, 'invalid_request_error', 'Clone request with no or whitespace-only text.'],
  ['sandbox_unsupported_route', 400, 'invalid_request_error', 'Sandbox key on a write endpoint. Nothing created.'],
  ['invalid_json', 400, 'invalid_request_error', 'Body not valid JSON, or wrong content type.'],
  ['reference_required', 400, 'invalid_request_error', 'Reference clip absent.'],
  ['reference_invalid', 400, 'invalid_request_error', 'Reference unreadable, too short, silent or missing.'],
  ['unsupported_output_format', 400, 'invalid_request_error', 'Format cannot be produced. Nothing charged.'],
  ['invalid_language', 400, 'invalid_request_error', 'Unsupported language code, or no code. Nothing charged.'],
  ['invalid_test_type', 400, 'invalid_request_error', 'Unknown test type.'],
  ['impersonation_blocked', 400, 'invalid_request_error', 'Reference matched a protected voice.'],
  ['text_too_long', 400, 'invalid_request_error', "Text above the endpoint's character limit."],
  ['workflow_empty', 400, 'invalid_request_error', 'Workflow has no nodes.'],
  ['workflow_invalid', 400, 'invalid_request_error', 'Workflow cannot run as saved. Nothing started or charged.'],
  ['unknown_input', 400, 'invalid_request_error', 'A key in inputs is not a fillable input node.'],
  ['unsupported_media', 415, 'invalid_request_error', 'Not a supported audio or video type.'],
  ['file_too_large', 413, 'invalid_request_error', 'Upload over a size cap, or audio too long for one request.'],
  ['request_timeout', 408, 'invalid_request_error', 'Upload received too slowly. Nothing charged.'],
  ['not_found', 404, 'invalid_request_error', "Unknown id, or another account's resource."],
  ['voice_not_found', 404, 'invalid_request_error', 'Unknown or inaccessible voice id.'],
  ['workflow_not_found', 404, 'invalid_request_error', 'No such workflow on this account.'],
  ['run_not_found', 404, 'invalid_request_error', 'No such run for that workflow.'],
  ['unknown_endpoint', 404, 'invalid_request_error', 'No such path: mind the case, and no slash at the end.'],
  ['tts_request_rejected', 422, 'invalid_request_error', 'Unsupported combination or unrenderable text.'],
  ['clone_request_rejected', 422, 'invalid_request_error', 'Reference clip unusable for cloning.'],
  ['model_unavailable', 422, 'invalid_request_error', 'Requested model is switched off. Choose another.'],
  ['quote_exceeded', 409, 'invalid_request_error', 'Workflow run quote above max_credits. Nothing started.'],
  ['missing_api_key', 401, 'authentication_error', 'No key supplied.'],
  ['invalid_api_key', 401, 'authentication_error', 'Key missing, malformed, unknown, rotated or revoked.'],
  ['insufficient_scope', 403, 'permission_error', 'Key lacks the required scope.'],
  ['account_key_not_agent_scoped', 403, 'permission_error', 'Account key on an agent-scoped endpoint.'],
  ['agent_scope_mismatch', 403, 'permission_error', 'Agent-bound key used on another agent.'],
  ['plan_required', 403, 'permission_error', 'Feature not in the plan.'],
  ['plan_limit_exceeded', 403, 'permission_error', 'Plan quota exceeded, or a plan without API access.'],
  ['content_policy', 403, 'permission_error', 'Blocked by content or voice-safety policy.'],
  ['voice_not_available', 403, 'permission_error', 'Voice awaiting moderation or under takedown hold.'],
  ['voice_not_permitted', 403, 'permission_error', 'Voice not owned, published or shared, or not cleared.'],
  ['ip_blocked', 403, 'permission_error', "Caller's IP denylisted."],
  ['forbidden', 403, 'permission_error', 'Resource of someone the key cannot act for.'],
  ['workflows_unavailable', 403, 'permission_error', 'Workflows not enabled for the account.'],
  ['insufficient_credits', 402, 'billing_error', 'Balance below cost. Nothing charged.'],
  ['daily_limit_exceeded', 429, 'rate_limit_error', 'Daily allowance used up. Resets 00:00 UTC.'],
  ['rate_limit_exceeded', 429, 'rate_limit_error', 'Per-minute limit exceeded. Obey Retry-After.'],
  ['rate_limited', 429, 'rate_limit_error', 'Alias of rate_limit_exceeded.'],
  ['rate_limit', 429, 'rate_limit_error', 'Legacy catch-all of the 429s, no longer emitted.'],
  ['concurrency_limit_exceeded', 429, 'rate_limit_error', "The plan's parallel-job cap is full."],
  ['account_limited', 429, 'rate_limit_error', 'Temporary, after content-policy flags. Do not retry.'],
  ['transcription_failed', 502, 'media_processing_error', 'ASR step failed.'],
  ['enhancement_failed', 502, 'media_processing_error', 'Enhancement step failed.'],
  ['clone_error', 502, 'media_processing_error', 'Cloning worker error.'],
  ['tts_error', 502, 'media_processing_error', 'Synthesis worker error.'],
  ['voice_service_error', 502, 'media_processing_error', 'Voice backend error.'],
  ['worker_error', 502, 'media_processing_error', 'Generic worker error.'],
  ['upstream_error', 502, 'media_processing_error', 'Realtime or agents backend failed or timed out.'],
  ['storage_error', 502, 'media_processing_error', 'Stored files could not be deleted. Nothing deleted. Retry.'],
  ['conversion_failed', 502, 'media_processing_error', 'Voice-changer job not staged or queued. Nothing charged.'],
  ['generation_failed', 502, 'media_processing_error', 'Sound-generation job not queued. Nothing charged.'],
  ['provider_error', 502, 'media_processing_error', 'Third-party provider failure.'],
  ['service_error', 502, 'media_processing_error', 'A supporting call failed.'],
  ['transcription_timeout', 504, 'media_processing_error', 'Synchronous transcription budget exceeded.'],
  ['service_unavailable', 503, 'api_error', 'Temporary unavailability.'],
  ['connection_error', 503, 'api_error', 'Upstream dependency unreachable.'],
  ['endpoint_disabled', 503, 'api_error', 'Endpoint switched off administratively.'],
  ['telephony_disabled', 503, 'api_error', 'Outbound calling unavailable on this deployment.'],
  ['internal_error', 500, 'api_error', 'Unexpected server error.'],
  ['server_error', 500, 'api_error', 'Alias of internal_error.'],
] as const satisfies readonly (readonly [code: string, status: number, type: ApiErrorType, condition: string])[];

/** A code of the table. */
export type ApiErrorCode = (typeof ROWS)[number][0];

/** Where section 7.3 says something else than {@link RETRY_BY_STATUS}. */
const RETRY_BY_CODE: ReadonlyMap<string | undefined, Retry> = new Map([
  ['concurrency_limit_exceeded', 'after-job'],
  ['account_limited', 'never'],
]);

const RETRY_BY_STATUS: ReadonlyMap<number, Retry> = new Map([
  [429, 'later'],
  [500, 'now'],
  [502, 'now'],
  [503, 'now'],
]);

/** The advice of section 7.3, also for codes that are not in the table. */
export function retryOf(status: number, code?: string): Retry {
  return RETRY_BY_CODE.get(code) ?? RETRY_BY_STATUS.get(status) ?? 'never';
}

/** The table by code. */
export const API_ERRORS: Readonly<Record<ApiErrorCode, Readonly<ApiErrorRow>>> = Object.fromEntries(
  ROWS.map(([code, status, type, condition]) => [code, { status, type, condition, retry: retryOf(status, code) }]),
) as Record<ApiErrorCode, ApiErrorRow>;

/** Codes that are another name of one (section 7.2). The legacy catch-all stands for the plain per-minute limit. */
const ALIASES = {
  rate_limited: 'rate_limit_exceeded',
  rate_limit: 'rate_limit_exceeded',
  server_error: 'internal_error',
} as const satisfies Partial<Record<ApiErrorCode, ApiErrorCode>>;

/** A code of the table that is no other name of one. */
export type CanonicalCode = Exclude<ApiErrorCode, keyof typeof ALIASES>;

/** The code that an alias stands for; any other as it is, also one that is not in the table. */
export function canonicalCode(code: string): CanonicalCode | (string & {}) {
  return Object.hasOwn(ALIASES, code) ? ALIASES[code as keyof typeof ALIASES] : code;
}

/** What a client that looks for the legacy `rate_limit` means (section 7.2). */
export const LEGACY_RATE_LIMIT: readonly ApiErrorCode[] = [
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'concurrency_limit_exceeded',
  'account_limited',
];

/** Failures of which section 7.2 says that nothing was deleted, queued or charged: a second try cannot do it twice. */
export const NOTHING_DONE: readonly ApiErrorCode[] = ['storage_error', 'conversion_failed', 'generation_failed'];
