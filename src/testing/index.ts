export { type StoreCase, storeSuite } from './store-suite.js';
export type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';
