export { createReceiver, type TelemetryOptions } from './create-receiver.js';
export { type JobsTelemetryOptions, observeJobs } from './observe-jobs.js';
export { observeQueue, type QueueTelemetryOptions } from './observe-queue.js';
export { workerTelemetry } from './worker-telemetry.js';
