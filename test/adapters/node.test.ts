import { mounts } from './mounts/node.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
