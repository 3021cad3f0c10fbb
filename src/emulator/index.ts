export type { ApiErrorCode, ApiErrorType } from '../service/api-errors.js';
export type { PlanType } from '../service/plans.js';
export { ANSWER_TIMEOUT_MS, PAUSE_AFTER_DEAD, RETRY_WAITS_MS } from '../service/schedule.js';
export type { EventOverrides } from '../testing/sample-event.js';
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
export type { FetchReceiver } from './wire/fetch-transport.js';
export type { Answer } from './wire/transport.js';
