import { calledMounts } from './mounts/azure-functions.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);
