import { http2Mounts, mounts } from './mounts/fastify.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...http2Mounts]);
