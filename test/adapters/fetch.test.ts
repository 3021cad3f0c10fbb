import { calledMounts, mounts } from './mounts/fetch.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...calledMounts]);
