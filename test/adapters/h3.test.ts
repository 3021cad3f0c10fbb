import { beforeEach, vi } from 'vitest';
import { calledMounts, mounts } from './mounts/h3.js';
import { runSuite } from './run-suite.js';

// h3 1 prints what a route throws.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));

runSuite([...mounts, ...calledMounts]);
