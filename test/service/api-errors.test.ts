import { API_ERRORS, type ApiErrorCode, canonicalCode } from 'service-webhooks/client';
import { describe, expect, it } from 'vitest';

/** What the specification says in section 7.2 about a condition and its handling, in its own words. */
const FACTS: Record<ApiErrorCode, string[]> = {
  validation_error: [
    'failed validation',
    'missing field',
    'out of range',
    'bad enum',
    'bad object key with `..`',
    'Not retryable as is',
  ],
  invalid_request: ['Malformed', 'conflicting parameters'],
  invalid_input: ['Empty', 'out-of-range', 'unsupported value', 'rejected before processing'],
  invalid_body: ['does not match endpoint schema'],
  text_required: ['Clone request', 'no or whitespace-only `text`'],
  sandbox_unsupported_route: ['Sandbox key', 'write endpoint', 'no sandbox behaviour', 'nothing created or charged'],
  invalid_json: ['not valid JSON', 'wrong content type'],
  reference_required: ['Reference clip absent'],
  reference_invalid: ['unreadable', 'too short', 'silent', 'key points at missing object'],
  unsupported_output_format: ['cannot be produced', 'nothing charged'],
  invalid_language: ['code unsupported', 'a name', 'not a string', 'nothing charged'],
  invalid_test_type: ['Unknown test type'],
  impersonation_blocked: ['matched a protected voice'],
  text_too_long: ["above the endpoint's character limit", 'message states it'],
  workflow_empty: ['no nodes'],
  workflow_invalid: [
    'cannot run as saved',
    'bad step id',
    'dangling connection',
    'loop',
    'incomplete composition step',
    'nothing started or charged',
  ],
  unknown_input: ['Key in `inputs`', 'not a fillable input node', 'message lists valid ids'],
  unsupported_media: ['Not a supported audio/video type'],
  file_too_large: ['over a size cap', 'audio longer than one request handles'],
  request_timeout: ['received too slowly', 'nothing charged'],
  not_found: ['Unknown id', "another account's resource"],
  voice_not_found: ['Unknown', 'inaccessible voice id'],
  workflow_not_found: ['No such workflow', 'on this account'],
  run_not_found: ['No such run', 'for that workflow'],
  unknown_endpoint: ['not an endpoint', 'case-sensitive', 'no trailing slash'],
  tts_request_rejected: [
    'Unsupported model/language/voice combination',
    'unrenderable text',
    'retry will not help',
    'nothing charged',
  ],
  clone_request_rejected: ['unusable for cloning'],
  model_unavailable: ['switched off', 'choose another'],
  quote_exceeded: ['quote above `max_credits`', 'nothing started'],
  missing_api_key: ['No key supplied'],
  invalid_api_key: ['missing', 'malformed', 'unknown', 'rotated', 'revoked'],
  insufficient_scope: ['lacks required scope'],
  account_key_not_agent_scoped: ['Account key', 'agent-scoped endpoint'],
  agent_scope_mismatch: ['Agent-bound key', 'another agent'],
  plan_required: ['not in plan'],
  plan_limit_exceeded: ['other than daily count or credits', 'plan without API access'],
  content_policy: ['content or voice-safety policy'],
  voice_not_available: ['awaiting moderation', 'takedown hold', 'not an auth failure'],
  voice_not_permitted: ['not owned', 'published or shared', 'not cleared'],
  ip_blocked: ['denylisted'],
  forbidden: ['someone the key cannot act for', 'not retryable with this key'],
  workflows_unavailable: ['not enabled for the account'],
  insufficient_credits: ['Balance below cost', 'not retryable until restored', 'nothing charged'],
  daily_limit_exceeded: ['Daily allowance used up', 'resets 00:00 UTC'],
  rate_limit_exceeded: ['Per-minute limit', 'obey `Retry-After`'],
  rate_limited: ['Alias of `rate_limit_exceeded`'],
  rate_limit: [
    'Legacy catch-all',
    'no longer emitted by v1',
    'clients matching it should also match',
    '`rate_limit_exceeded`',
    '`daily_limit_exceeded`',
    '`concurrency_limit_exceeded`',
    '`account_limited`',
  ],
  concurrency_limit_exceeded: ['parallel-job cap full', 'slot frees when an in-flight job finishes'],
  account_limited: [
    'Temporary limit',
    'after repeated content-policy flags',
    'do not retry',
    'clears after a cooling-off period',
  ],
  transcription_failed: ['ASR step failed'],
  enhancement_failed: ['Enhancement step failed'],
  clone_error: ['Cloning worker error'],
  tts_error: ['Synthesis worker error'],
  voice_service_error: ['Voice backend error'],
  worker_error: ['Generic worker error'],
  upstream_error: ['Realtime/agents backend', 'failed or timed out'],
  storage_error: ['could not be deleted', 'nothing deleted', 'retry'],
  conversion_failed: ['Voice-changer job', 'could not be staged or queued', 'nothing charged'],
  generation_failed: ['Sound-generation job', 'could not be queued', 'nothing charged'],
  provider_error: ['Third-party provider failure'],
  service_error: ['Supporting call failed', 'storing a reference upload'],
  transcription_timeout: ['Synchronous transcription budget exceeded', 'reserved credits settled to work done'],
  service_unavailable: ['Temporary unavailability'],
  connection_error: ['Upstream dependency unreachable'],
  endpoint_disabled: ['switched off administratively'],
  telephony_disabled: ['Outbound calling unavailable', 'on this deployment'],
  internal_error: ['Unexpected server error'],
  server_error: ['Alias of `internal_error`'],
};

describe('API_ERRORS', () => {
  it.each(Object.entries(FACTS))('the condition of %s has every fact of the specification', (code, facts) => {
    const { condition } = API_ERRORS[code as ApiErrorCode];
    expect(facts.filter((fact) => !condition.includes(fact))).toEqual([]);
  });

  it('the error codes are those of the specification', () => {
    expect(Object.keys(API_ERRORS).sort()).toEqual(Object.keys(FACTS).sort());
  });

  it('each condition is a whole sentence that no other code has', () => {
    const conditions = Object.values(API_ERRORS).map(({ condition }) => condition);
    expect(conditions.filter((condition) => !/^[A-Z].+\.$/.test(condition))).toEqual([]);
    expect(new Set(conditions).size).toBe(conditions.length);
  });

  it('the retry advice is that of section 7.3 of the specification', () => {
    const codes = (retry: string) => Object.entries(API_ERRORS).filter(([, row]) => row.retry === retry);
    expect(codes('after-job').map(([code]) => code)).toEqual(['concurrency_limit_exceeded']);
    expect(codes('later').map(([code]) => code)).toEqual([
      'daily_limit_exceeded',
      'rate_limit_exceeded',
      'rate_limited',
      'rate_limit',
    ]);
    expect([...new Set(codes('now').map(([, { status }]) => status))].sort()).toEqual([500, 502, 503]);
    expect(codes('never').map(([code]) => code)).toEqual(
      expect.arrayContaining(['insufficient_credits', 'account_limited', 'validation_error', 'transcription_timeout']),
    );
  });

  it('status and type are those of section 7.2 of the specification', () => {
    const codes = new Map<string, string[]>();
    for (const [code, { status, type }] of Object.entries(API_ERRORS)) {
      codes.set(`${status} ${type}`, [...(codes.get(`${status} ${type}`) ?? []), code]);
    }
    const listed = [...codes].map(([row, names]) => `${row}: ${names.sort().join(' ')}`);
    expect(listed.sort()).toEqual([
      '400 invalid_request_error: impersonation_blocked invalid_body invalid_input invalid_json invalid_language ' +
        'invalid_request invalid_test_type reference_invalid reference_required sandbox_unsupported_route ' +
        'text_required text_too_long unknown_input unsupported_output_format workflow_empty workflow_invalid',
      '401 authentication_error: invalid_api_key missing_api_key',
      '402 billing_error: insufficient_credits',
      '403 permission_error: account_key_not_agent_scoped agent_scope_mismatch content_policy forbidden ' +
        'insufficient_scope ip_blocked plan_limit_exceeded plan_required voice_not_available voice_not_permitted ' +
        'workflows_unavailable',
      '404 invalid_request_error: not_found run_not_found unknown_endpoint voice_not_found workflow_not_found',
      '408 invalid_request_error: request_timeout',
      '409 invalid_request_error: quote_exceeded',
      '413 invalid_request_error: file_too_large',
      '415 invalid_request_error: unsupported_media',
      '422 invalid_request_error: clone_request_rejected model_unavailable tts_request_rejected validation_error',
      '429 rate_limit_error: account_limited concurrency_limit_exceeded daily_limit_exceeded rate_limit ' +
        'rate_limit_exceeded rate_limited',
      '500 api_error: internal_error server_error',
      '502 media_processing_error: clone_error conversion_failed enhancement_failed generation_failed ' +
        'provider_error service_error storage_error transcription_failed tts_error upstream_error ' +
        'voice_service_error worker_error',
      '503 api_error: connection_error endpoint_disabled service_unavailable telephony_disabled',
      '504 media_processing_error: transcription_timeout',
    ]);
  });
});

it.each([
  ['server_error', 'internal_error'],
  ['rate_limited', 'rate_limit_exceeded'],
  ['rate_limit', 'rate_limit_exceeded'],
  ['not_found', 'not_found'],
  ['brand_new', 'brand_new'],
  ['__proto__', '__proto__'],
])('the canonical API error code of %s is %s', (code, canonical) => {
  expect(canonicalCode(code)).toBe(canonical);
});
