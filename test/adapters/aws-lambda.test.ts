import { calledMounts } from './mounts/aws-lambda.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);
