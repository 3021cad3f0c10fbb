import { calledMounts, mounts } from './mounts/hono.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...calledMounts]);
