import { mounts } from './mounts/fastify.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
