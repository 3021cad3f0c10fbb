import { describe, expect, it, vi } from 'vitest';
import { severalProcesses } from '../../src/dedupe/several-processes.js';

/** What is found where the global `process` is this one. */
function foundIn(process: object | undefined): string | undefined {
  vi.stubGlobal('process', process);
  const found = severalProcesses();
  vi.unstubAllGlobals();
  return found;
}

describe('what runs a receiver in several processes', () => {
  const VARIABLES = { pm_id: undefined, AWS_LAMBDA_FUNCTION_NAME: undefined };

  it.each<[string, object, string | undefined]>([
    ['a process on its own', { env: VARIABLES, getBuiltinModule: () => ({ isWorker: false }) }, undefined],
    [
      'a worker of cluster',
      { env: {}, getBuiltinModule: (id: string) => ({ isWorker: id === 'cluster' }) },
      'cluster of Node',
    ],
    ['a process of PM2', { env: { pm_id: '0' } }, 'PM2'],
    ['a function of AWS Lambda', { env: { AWS_LAMBDA_FUNCTION_NAME: 'clips' } }, 'AWS Lambda'],
    ['a runtime that has no cluster', { env: {}, getBuiltinModule: () => undefined }, undefined],
    ['a runtime without variables', {}, undefined],
  ])('%s is found by its process', (_, process, runner) => {
    expect(foundIn(process)).toBe(runner);
  });

  it('nothing is found where there is no global process', () => {
    expect(foundIn(undefined)).toBeUndefined();
  });
});
