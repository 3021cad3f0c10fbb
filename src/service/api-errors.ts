/** The categories of the service's errors. */
export type ApiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'billing_error'
  | 'rate_limit_error'
  | 'media_processing_error'
  | 'api_error';

/**
 * Whether and when the same request may be sent again.
 *
 * - `'now'`: with exponential backoff.
 * - `'later'`: after the seconds of `Retry-After`.
 * - `'after-job'`: when a running job has finished. Waiting alone does not help.
 * - `'never'`: not until the cause is removed.
 */
export type Retry = 'never' | 'later' | 'after-job' | 'now';

/** The description of an error code of the service. */
export interface ApiErrorRow {
  /** The HTTP status. */
  status: number;
  type: ApiErrorType;
  /** When the service answers with this code, and how to handle it. */
  condition: string;
  retry: Retry;
}

/** Every error code of the service with its status, type and condition. */
const TABLE = {
  ...rows('invalid_request_error', {
    validation_error: [
      422,
      'Parameter failed validation (missing field, out of range, bad enum, bad object key with `..`). Not retryable as is.',
    ],
    invalid_request: [400, 'Malformed or conflicting parameters.'],
    invalid_input: [400, 'Empty, out-of-range or unsupported value rejected before processing.'],
    invalid_body: [400, 'Body does not match endpoint schema.'],
    text_required: [400, 'Clone request with no or whitespace-only `text`.'],
    sandbox_unsupported_route: [
      400,
      'Sandbox key on a write endpoint with no sandbox behaviour; nothing created or charged.',
    ],
    invalid_json: [400, 'Body not valid JSON or wrong content type.'],
    reference_required: [400, 'Reference clip absent.'],
    reference_invalid: [400, 'Reference unreadable, too short, silent, or key points at missing object.'],
    unsupported_output_format: [400, 'Format cannot be produced; nothing charged.'],
    invalid_language: [400, 'Language code unsupported, a name, or not a string; nothing charged.'],
    invalid_test_type: [400, 'Unknown test type.'],
    impersonation_blocked: [400, 'Reference matched a protected voice.'],
    text_too_long: [400, "Text above the endpoint's character limit (message states it)."],
    workflow_empty: [400, 'Workflow has no nodes.'],
    workflow_invalid: [
      400,
      'Workflow cannot run as saved (bad step id, dangling connection, loop, incomplete composition step); nothing started or charged.',
    ],
    unknown_input: [400, 'Key in `inputs` is not a fillable input node; message lists valid ids.'],
    unsupported_media: [415, 'Not a supported audio/video type.'],
    file_too_large: [413, 'Upload over a size cap, or audio longer than one request handles.'],
    request_timeout: [408, 'Upload received too slowly; nothing charged.'],
    not_found: [404, "Unknown id or another account's resource."],
    voice_not_found: [404, 'Unknown or inaccessible voice id.'],
    workflow_not_found: [404, 'No such workflow on this account.'],
    run_not_found: [404, 'No such run for that workflow.'],
    unknown_endpoint: [404, 'Path is not an endpoint (paths are case-sensitive, no trailing slash).'],
    tts_request_rejected: [
      422,
      'Unsupported model/language/voice combination or unrenderable text; retry will not help; nothing charged.',
    ],
    clone_request_rejected: [422, 'Reference clip unusable for cloning.'],
    model_unavailable: [422, 'Requested model is switched off; choose another.'],
    quote_exceeded: [409, 'Workflow run quote above `max_credits`; nothing started.'],
  }),
  ...rows('authentication_error', {
    missing_api_key: [401, 'No key supplied.'],
    invalid_api_key: [401, 'Key missing, malformed, unknown, rotated or revoked.'],
  }),
  ...rows('permission_error', {
    insufficient_scope: [403, 'Key lacks required scope.'],
    account_key_not_agent_scoped: [403, 'Account key on agent-scoped endpoint.'],
    agent_scope_mismatch: [403, 'Agent-bound key used on another agent.'],
    plan_required: [403, 'Feature not in plan.'],
    plan_limit_exceeded: [403, 'Plan quota (other than daily count or credits) exceeded, or plan without API access.'],
    content_policy: [403, 'Blocked by content or voice-safety policy.'],
    voice_not_available: [403, 'Voice awaiting moderation or under takedown hold; not an auth failure.'],
    voice_not_permitted: [403, 'Target voice not owned, published or shared, or not cleared.'],
    ip_blocked: [403, 'Caller IP denylisted.'],
    forbidden: [403, 'Resource belongs to someone the key cannot act for; not retryable with this key.'],
    workflows_unavailable: [403, 'Workflows not enabled for the account.'],
  }),
  ...rows('billing_error', {
    insufficient_credits: [402, 'Balance below cost; not retryable until restored; nothing charged.'],
  }),
  ...rows('rate_limit_error', {
    daily_limit_exceeded: [429, 'Daily allowance used up; resets 00:00 UTC.'],
    rate_limit_exceeded: [429, 'Per-minute limit exceeded; obey `Retry-After`.'],
    rate_limited: [429, 'Alias of `rate_limit_exceeded`.'],
    rate_limit: [
      429,
      'Legacy catch-all no longer emitted by v1; clients matching it should also match `rate_limit_exceeded`, `daily_limit_exceeded`, `concurrency_limit_exceeded`, `account_limited`.',
    ],
    concurrency_limit_exceeded: [
      429,
      "Plan's parallel-job cap full; slot frees when an in-flight job finishes.",
      'after-job',
    ],
    account_limited: [
      429,
      'Temporary limit after repeated content-policy flags; do not retry, clears after a cooling-off period.',
      'never',
    ],
  }),
  ...rows('media_processing_error', {
    transcription_failed: [502, 'ASR step failed.'],
    enhancement_failed: [502, 'Enhancement step failed.'],
    clone_error: [502, 'Cloning worker error.'],
    tts_error: [502, 'Synthesis worker error.'],
    voice_service_error: [502, 'Voice backend error.'],
    worker_error: [502, 'Generic worker error.'],
    upstream_error: [502, 'Realtime/agents backend failed or timed out.'],
    storage_error: [502, 'Stored files could not be deleted; nothing deleted; retry.'],
    conversion_failed: [502, 'Voice-changer job could not be staged or queued; nothing charged.'],
    generation_failed: [502, 'Sound-generation job could not be queued; nothing charged.'],
    provider_error: [502, 'Third-party provider failure.'],
    service_error: [502, 'Supporting call failed, such as storing a reference upload.'],
    transcription_timeout: [504, 'Synchronous transcription budget exceeded; reserved credits settled to work done.'],
  }),
  ...rows('api_error', {
    service_unavailable: [503, 'Temporary unavailability.'],
    connection_error: [503, 'Upstream dependency unreachable.'],
    endpoint_disabled: [503, 'Endpoint switched off administratively.'],
    telephony_disabled: [503, 'Outbound calling unavailable on this deployment.'],
    internal_error: [500, 'Unexpected server error.'],
    server_error: [500, 'Alias of `internal_error`.'],
  }),
};

/** An error code of the service. */
export type ApiErrorCode = keyof typeof TABLE;

/**
 * Every error code of the service, with its status, type, condition and retry advice. `docs/client.md` explains them.
 *
 * @example
 * if (isServiceApiError(error) && error.is('model_unavailable')) console.warn(API_ERRORS.model_unavailable.condition);
 */
export const API_ERRORS: Readonly<Record<ApiErrorCode, Readonly<ApiErrorRow>>> = TABLE;

/** Returns rows of one type. The retry advice follows from the status, unless the service advises otherwise. */
function rows<Code extends string>(
  type: ApiErrorType,
  facts: Record<Code, [status: number, condition: string, retry?: Retry]>,
): Record<Code, ApiErrorRow> {
  const entries = Object.entries<[number, string, Retry?]>(facts).map(
    ([code, [status, condition, retry = retryByStatus(status)]]) => [code, { status, type, condition, retry }] as const,
  );
  return Object.fromEntries(entries) as Record<Code, ApiErrorRow>;
}

function retryByStatus(status: number): Retry {
  if (status === 429) return 'later';
  return [500, 502, 503].includes(status) ? 'now' : 'never';
}

export function isApiErrorCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code);
}

/** Returns the retry advice of a code. A code that is not in the table is judged by its status. */
export function retryOf(status: number, code = ''): Retry {
  return isApiErrorCode(code) ? API_ERRORS[code].retry : retryByStatus(status);
}

/** Codes that are another name of one. The legacy catch-all stands for the per-minute limit. */
const ALIASES = {
  rate_limited: 'rate_limit_exceeded',
  rate_limit: 'rate_limit_exceeded',
  server_error: 'internal_error',
} as const satisfies Partial<Record<ApiErrorCode, ApiErrorCode>>;

/** An error code of the service that is not an alias of another one. */
export type CanonicalCode = Exclude<ApiErrorCode, keyof typeof ALIASES>;

/**
 * Returns the code that an alias stands for. Any other code is returned unchanged, including an unknown one.
 *
 * @example
 * console.log(canonicalCode('server_error')); // internal_error
 */
export function canonicalCode(code: string): CanonicalCode | (string & {}) {
  return Object.hasOwn(ALIASES, code) ? ALIASES[code as keyof typeof ALIASES] : code;
}

/** The codes that replace the legacy `rate_limit`. */
export const LEGACY_RATE_LIMIT: readonly string[] = [
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'concurrency_limit_exceeded',
  'account_limited',
] satisfies ApiErrorCode[];

/** Server errors after which nothing was deleted, queued or charged, so that a retry is safe. */
export const NOTHING_DONE: readonly string[] = [
  'storage_error',
  'conversion_failed',
  'generation_failed',
] satisfies ApiErrorCode[];
