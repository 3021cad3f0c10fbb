export type { DedupeOptions } from './dedupe.js';
export {
  isWebhookError,
  PermanentError,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorStatus,
} from './errors.js';
export {
  type Envelope,
  type EventOf,
  type EventType,
  type GenerationCompletedData,
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  type KnownEvent,
  PAYLOAD_VERSION,
  parseEvent,
  type UnknownEvent,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from './event.js';
export type { BodySource, HeaderSource, WebhookRequest, WebhookResponse } from './http.js';
export type { Handler, HandlerContext, Handlers, ReceiverOptions } from './options.js';
export type { Answer, Notice, Outcome } from './outcome.js';
export { type BegunDelivery, createReceiver, type Receiver } from './receiver.js';
export type { Secret } from './secret.js';
export { type Scheme, type SignatureOptions, type SignInput, sign } from './signature.js';
export type {
  ClaimRef,
  ClaimRequest,
  ClaimResult,
  DedupeRecord,
  DedupeStore,
  Mutation,
  Seen,
} from './stores/contract.js';
export { type MemoryStoreOptions, memoryStore } from './stores/memory.js';
export {
  type Delivery,
  type VerifiedSignature,
  type VerifyInput,
  verify,
  verifyAsync,
  verifySignature,
} from './verify.js';
