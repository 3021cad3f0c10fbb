import { afterAll, describe } from 'vitest';
import { mounts, next } from './mounts/next.js';
import { runSuite } from './run-suite.js';
import { runVectors } from './run-vectors.js';

afterAll(() => next?.close());

runSuite(mounts);
describe.each(mounts)('over a socket to $name', runVectors);
