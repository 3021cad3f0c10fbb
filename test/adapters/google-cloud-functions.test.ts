import { mounts } from './mounts/google-cloud-functions.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
