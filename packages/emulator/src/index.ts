export {
  ANSWER_TIMEOUT_MS,
  type ApiErrorCode,
  type ApiErrorType,
  PAUSE_AFTER_DEAD,
  type PlanType,
  RETRY_WAITS_MS,
} from 'service-webhooks/service';
export type { EventOverrides } from 'service-webhooks/testing';
export type { AccountSettings } from './api/accounts.js';
export type { Listening } from './api/http-server.js';
export type { KeyKind, KeySettings } from './api/keys.js';
export type { Script } from './api/scripts.js';
export type {
  DeliveryFilter,
  EmitTo,
  Emitted,
  Emulator,
  EmulatorAccount,
  EmulatorAccounts,
  EmulatorDeliveries,
  EmulatorEndpoints,
  EmulatorKeys,
  NewEndpoint,
} from './contract.js';
export { createEmulator } from './create-emulator.js';
export type { Attempt, AttemptFilter, Attempts } from './delivery/attempt-log.js';
export type { EmulatorDelivery } from './delivery/deliveries.js';
export {
  DELIVERY_TRANSITIONS,
  type DeliveryState,
  ENDPOINT_TRANSITIONS,
  type EndpointState,
} from './delivery/delivery-states.js';
export type { EmulatorEndpoint } from './delivery/endpoints.js';
export { FAULT_NAMES, type Fault, type FaultName, type Faults } from './faults.js';
export type { EmulatorOptions, KeepOptions } from './options.js';
export type { Totals } from './totals.js';
export type { RequestTime } from './wire/answer-time.js';
export type { FetchReceiver } from './wire/fetch-transport.js';
export { type HeaderPairs, type HttpRequest, sendRequest } from './wire/send-request.js';
export type { Answer, Sent } from './wire/transport.js';
