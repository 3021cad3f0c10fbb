export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from '../data-schema.js';
export type { Drift } from './drift.js';
export { eventSchema } from './event-schema.js';
export type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.js';
export {
  type DataSchemas,
  type EventWith,
  type HandlersWith,
  type HandlerWith,
  type SchemaOptions,
  withSchemas,
} from './with-schemas.js';
