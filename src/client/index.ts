export {
  API_ERRORS,
  type ApiErrorCode,
  type ApiErrorRow,
  type ApiErrorType,
  type CanonicalCode,
  canonicalCode,
  type Retry,
} from '../service/api-errors.js';
export { PLANS, type Plan, type PlanType } from '../service/plans.js';
export type { Answer } from './answer.js';
export type { AccountLimits, SigningSecret, SpeechToSpeech, WebhookEndpoint } from './answer-data.js';
export { type Client, createClient } from './create-client.js';
export { type EnsuredEndpoint, ensureEndpoint, isSameUrl } from './ensure-endpoint.js';
export {
  CallError,
  type CallFailure,
  ClientError,
  type ClientErrorCode,
  isClientError,
  isServiceApiError,
  ServiceApiError,
} from './errors.js';
export { type FreshDownloadUrlOptions, freshDownloadUrl } from './fresh-download-url.js';
export type { ClientOptions } from './options.js';
export type { RateState } from './rate-limits.js';
export type { CallOptions, ClientRequest } from './request.js';
export { type CreatedEndpoint, type EndpointSettings, endpointsIn, type Webhooks } from './webhooks.js';
