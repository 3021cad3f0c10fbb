import { mounts } from './mounts/express.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
