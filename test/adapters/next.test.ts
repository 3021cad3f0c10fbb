import { afterAll } from 'vitest';
import { mounts, next } from './mounts/next.js';
import { runSuite } from './run-suite.js';
import { runVectors } from './run-vectors.js';

afterAll(() => next?.close());

runSuite(mounts);
for (const mount of mounts) runVectors(mount);
