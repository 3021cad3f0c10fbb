import { mounts } from './mounts/nest.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
