export { type AdapterCase, adapterSuite } from './adapter-suite.js';
export type {
  AdapterAbility,
  AdapterSuiteOptions,
  AppUnderTest,
  CalledRequest,
  RouteEnding,
  ServedApp,
} from './adapter-under-test.js';
export {
  type ApiGatewayOptions,
  type ApiGatewayV1Event,
  type ApiGatewayV2Event,
  toApiGatewayV1,
  toApiGatewayV2,
} from './forms/to-api-gateway.js';
export { toCurl } from './forms/to-curl.js';
export { type InjectOptions, toInject } from './forms/to-inject.js';
export { toRequest } from './forms/to-request.js';
export { type SupertestRequest, toSupertest } from './forms/to-supertest.js';
export { type QueueCase, queueSuite } from './queue-suite.js';
export type {
  QueueAbility,
  QueueSuiteOptions,
  QueueUnderTest,
  QueueUnderTestSetup,
  WorkerUnderTest,
} from './queue-under-test.js';
export { type ReadDelivery, readDelivery } from './read-delivery.js';
export { type EventOverrides, sampleEvent } from './sample-event.js';
export {
  type DeliveryRequest,
  type SignDeliveryInput,
  type SignedDelivery,
  type SigningOptions,
  signDelivery,
} from './sign-delivery.js';
export { type StoreCase, storeSuite } from './store-suite.js';
export type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';
export { tamper } from './tamper.js';
