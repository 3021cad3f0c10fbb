export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './data-schema.js';
export type { DedupeNotice } from './dedupe/notice.js';
export type { DedupeOptions } from './dedupe/options.js';
export {
  ERRORS,
  type ErrorDescription,
  isWebhookError,
  PermanentError,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorDetails,
} from './errors.js';
export {
  type AnyEvent,
  type Envelope,
  type EventData,
  type EventOf,
  type EventType,
  type EventWithData,
  type GenerationCompletedData,
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  type KnownEvent,
  PAYLOAD_VERSION,
  parseEvent,
  type UnknownEvent,
  type UnknownEventType,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from './event.js';
export type { DeliveryQueue, QueueStats } from './receiver/delivery-queue.js';
export type { BegunDelivery, ResponseEnd } from './receiver/hand-over.js';
export type { Handler, HandlerContext, HandlerContextOf, HandlerOf, Handlers } from './receiver/handlers.js';
export type { Health, HealthReadOptions, QueueHealth } from './receiver/health.js';
export type { SecretSource, TenantSecrets } from './receiver/key-source.js';
export type { LogFields, Logger } from './receiver/log.js';
export type { EndpointOptions, MiddlewareOptions, ReceiverOptions } from './receiver/options.js';
export {
  type DeadLetterCause,
  type DeadLetterNotice,
  type Decision,
  isNotice,
  type Notice,
  type Outcome,
  type UnsignedRequest,
} from './receiver/outcome.js';
export type { QueuedDelivery } from './receiver/queued-delivery.js';
export { createReceiver, type Receiver } from './receiver/receiver.js';
export type { BodySource, WebhookRequest, WebhookResponse } from './receiver/request.js';
export type {
  ClaimRef,
  ClaimRequest,
  ClaimResult,
  DedupeRecord,
  DedupeStore,
  HealthReport,
  JobCounts,
  JobPage,
  JobRecord,
  JobRecords,
  Mutation,
  Seen,
} from './stores/contract.js';
export { type MemoryStoreOptions, memoryStore } from './stores/memory.js';
export type { HeaderSource } from './verify/headers.js';
export type { SignatureOptions } from './verify/policy.js';
export type { Secret } from './verify/secret.js';
export { type SignInput, sign } from './verify/sign.js';
export type { Scheme } from './verify/signature.js';
export {
  type Delivery,
  type VerifiedSignature,
  type VerifyInput,
  verify,
  verifyAsync,
  verifySignature,
} from './verify/verify.js';
