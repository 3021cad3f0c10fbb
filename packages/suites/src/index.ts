export { type AdapterCase, adapterSuite } from './adapters/adapter-suite.js';
export type {
  AdapterAbility,
  AdapterSuiteOptions,
  AppUnderTest,
  CalledRequest,
  RouteEnding,
  ServedApp,
} from './adapters/adapter-under-test.js';
export { type QueueCase, queueSuite } from './queues/queue-suite.js';
export type {
  QueueAbility,
  QueueSuiteOptions,
  QueueUnderTest,
  QueueUnderTestSetup,
  WorkerUnderTest,
} from './queues/queue-under-test.js';
export { type StoreCase, storeSuite } from './stores/store-suite.js';
export type { StoreSuiteOptions, StoreUnderTest } from './stores/store-under-test.js';
