export { createReceiver, type TelemetryOptions } from './create-receiver.js';
export { observeQueue, type QueueTelemetryOptions } from './observe-queue.js';
export { workerTelemetry } from './worker-telemetry.js';
