import { http2Mounts, mounts } from './mounts/koa.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...http2Mounts]);
