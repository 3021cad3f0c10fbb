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
export type {
  Database,
  EndedWorld,
  ReceiverProcess,
  ServiceApi,
  SimulationOptions,
  SimulationReport,
  SubmittedJob,
  Transaction,
  World,
} from './simulation/contract.js';
export type { SimulatedFault } from './simulation/faults.js';
export type { JobEnd, JobsClient, TakenJob } from './simulation/job-engine.js';
export { SimulationError, simulate } from './simulation/simulate.js';
export type { StoreModel } from './simulation/store-models.js';
export { type StoreCase, storeSuite } from './stores/store-suite.js';
export type { StoreSuiteOptions, StoreUnderTest } from './stores/store-under-test.js';
