import { http2Mounts, mounts } from './mounts/nest.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...http2Mounts]);
