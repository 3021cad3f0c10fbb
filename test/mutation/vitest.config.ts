import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** Tests that answer in milliseconds: each change of the source runs those of them that reach it. */
const QUICK = [
  'body',
  'deadline',
  'dedupe',
  'diagnostics-channel/publish-outcome',
  'dispatch',
  'errors',
  'event',
  'hmac',
  'http',
  'json-test-suite',
  'options',
  'otel/create-receiver',
  'outcome',
  'receiver',
  'signature',
  'standard-schema/event-schema',
  'stores/memory',
  'verify',
];

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: QUICK.map((name) => `test/${name}.test.ts`),
    // Many a change makes a test wait for ever.
    testTimeout: 5_000,
    typecheck: { enabled: false },
  },
});
