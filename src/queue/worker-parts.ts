import { checkKnownOptions, checkObject, integers } from '../option-checks.js';
import { createLog, type Log } from '../receiver/log.js';
import { createProcessor, type Processor, WORKER_ALIASES, WORKER_OPTIONS, type WorkerOptions } from './processor.js';

/** What every worker of this package has, whatever its engine. */
export interface WorkerParts {
  concurrency: number;
  process: Processor;
  log: Log;
}

/** @throws WebhookError `invalid_option` */
export function workerParts(options: WorkerOptions & { concurrency?: number | undefined }): WorkerParts {
  checkObject('options', options);
  checkKnownOptions('the worker', options, [...WORKER_OPTIONS, 'concurrency'], WORKER_ALIASES);
  const { concurrency } = integers(options, { concurrency: 1 });
  const { concurrency: _, ...handlers } = options;
  return { concurrency, process: createProcessor(handlers), log: createLog(options.logger) };
}
