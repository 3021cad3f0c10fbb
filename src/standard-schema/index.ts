export { eventSchema } from './event-schema.js';
export type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.js';
