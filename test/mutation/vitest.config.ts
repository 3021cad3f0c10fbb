import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The tests of the core that answer in milliseconds: each change of the source runs those of them that reach it. */
const CORE = [
  'body',
  'dedupe',
  'dispatch',
  'errors',
  'event',
  'hmac',
  'http',
  'json-test-suite',
  'options',
  'outcome',
  'receiver',
  'signature',
  'verify',
];

export default defineConfig({
  ...base,
  test: { ...base.test, include: CORE.map((name) => `test/${name}.test.ts`), typecheck: { enabled: false } },
});
