export {
  type ApiGatewayOptions,
  type ApiGatewayV1Event,
  type ApiGatewayV2Event,
  toApiGatewayV1,
  toApiGatewayV2,
} from './api-gateway.js';
export {
  type InjectOptions,
  type SupertestRequest,
  toCurl,
  toInject,
  toRequest,
  toSupertest,
} from './delivery-forms.js';
export { asSpecified, type DeliveryHeadersInput, deliveryHeaders, signedHeaders } from './delivery-headers.js';
export { type ReadDelivery, readDelivery } from './read-delivery.js';
export { type EventOverrides, sampleEvent } from './sample-event.js';
export {
  type DeliveryRequest,
  type SignDeliveryInput,
  type SignedDelivery,
  type SigningOptions,
  signDelivery,
} from './sign-delivery.js';
export { type AdapterCase, adapterSuite } from './suites/adapters/adapter-suite.js';
export type {
  AdapterAbility,
  AdapterSuiteOptions,
  AppUnderTest,
  CalledRequest,
  RouteEnding,
  ServedApp,
} from './suites/adapters/adapter-under-test.js';
export { type QueueCase, queueSuite } from './suites/queues/queue-suite.js';
export type {
  QueueAbility,
  QueueSuiteOptions,
  QueueUnderTest,
  QueueUnderTestSetup,
  WorkerUnderTest,
} from './suites/queues/queue-under-test.js';
export { type StoreCase, storeSuite } from './suites/stores/store-suite.js';
export type { StoreSuiteOptions, StoreUnderTest } from './suites/stores/store-under-test.js';
export { tamper } from './tamper.js';
