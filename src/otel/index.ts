export { createReceiver, type TelemetryOptions } from './create-receiver.js';
