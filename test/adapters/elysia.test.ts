import { calledMounts } from './mounts/elysia.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);
