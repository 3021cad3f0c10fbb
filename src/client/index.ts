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
export { CallError, type CallFailure } from './call-error.js';
export { ClientError, type ClientErrorCode, isClientError } from './client-error.js';
export { type Client, createClient } from './create-client.js';
export type { CallOptions, ClientRequest } from './create-request.js';
export type { EndpointSettings } from './endpoint-settings.js';
export { type EnsuredEndpoint, ensureEndpoint } from './ensure-endpoint.js';
export { type FreshDownloadUrlOptions, freshDownloadUrl } from './fresh-download-url.js';
export type { ClientOptions } from './options.js';
export type { RateState } from './rate.js';
export { isServiceApiError, ServiceApiError } from './service-api-error.js';
export type { AccountLimits, SpeechToSpeech, WebhookEndpoint } from './shown.js';
export type { SigningSecret } from './signing-secret.js';
export { type CreatedEndpoint, endpointsIn, type Webhooks } from './webhooks.js';
