import { mounts } from './mounts/koa.js';
import { runSuite } from './run-suite.js';

runSuite(mounts);
