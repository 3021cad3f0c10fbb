import { issuePaths } from '../data-paths.js';
import { checkSchema, type StandardSchemaV1, validate } from '../data-schema.js';
import { WebhookError } from '../errors.js';
import type { EventOf, EventType, EventWithData } from '../event.js';
import { check, checkFunction, checkKnownOptions, checkObject } from '../option-checks.js';
import { checkEventType, type Handler, type Handlers, handlerTable } from '../receiver/handlers.js';
import { type Drift, watchDrift } from './drift.js';
import { type FieldsReader, knownFieldsOf } from './known-fields.js';

/** A schema for the `data` of each type of event. */
export type DataSchemas = {
  // biome-ignore lint/suspicious/noExplicitAny: a schema of any types
  readonly [Type in EventType]?: StandardSchemaV1<any, any> | undefined;
};

/** The event of one type, whose `data` is the output of its schema in `Schemas`. */
export type EventWith<Schemas, Type extends EventType> = Type extends keyof Schemas
  ? EventOfSchema<Type, Schemas[Type]>
  : EventOf<Type>;

/** Of a schema that may be left out, an event with the data of either. */
type EventOfSchema<Type extends EventType, Schema> = Schema extends StandardSchemaV1
  ? EventWithData<Type, NonNullable<Schema['~standard']['types']>['output']>
  : EventOf<Type>;

/**
 * The handler of one type of event, for a handler in a file of its own.
 *
 * @example
 * export const onText: HandlerWith<typeof schemas, 'stt.completed'> = (event) => save(event.data.text);
 */
export type HandlerWith<Schemas, Type extends EventType> = Handler<EventWith<Schemas, Type>>;

/** A handler for each type of event, as `on` of a receiver; the types of `data` are those of the schemas. */
export type HandlersWith<Schemas> = { [Type in EventType]?: Handler<EventWith<Schemas, Type>> | undefined } & {
  '*'?: Handler | undefined;
};

/** The options of {@link withSchemas}. */
export interface SchemaOptions {
  /**
   * Called once for each type of event and field that its schema does not know, for at most 1,000 fields of a type. Errors
   * are ignored. Without it, nothing is compared.
   */
  onDrift?: ((drift: Drift) => unknown) | undefined;
}

/**
 * Returns a plain `on` table, for any receiver or worker, whose handlers run only for `data` that matches its schema.
 * `event.data` is the output of the schema, also in `context.delivery`. Takes any schema of Standard Schema, such as one of
 * Zod, Valibot or ArkType, synchronous or asynchronous. `'*'` and handlers of types without a schema stay as they are.
 *
 * Data that does not match is refused with 500 `unexpected_data` before the handler runs, so that the service retries; a
 * worker fails the attempt. `error.paths` says where, without values. A schema that throws is a failure of the handler.
 *
 * @throws WebhookError `invalid_option` for an unknown event type, a value that is not a schema, a handler that is not a
 *   function, and an unknown option
 * @example
 * const schemas = { 'stt.completed': z.object({ text: z.string() }) };
 * const on = withSchemas(schemas, { 'stt.completed': (event) => console.log(event.data.text.length) });
 */
export function withSchemas<Schemas extends DataSchemas>(
  schemas: Schemas & { [Other in Exclude<keyof Schemas, EventType>]: 'no event type of the service' },
  on: HandlersWith<NoInfer<Schemas>>,
  options: SchemaOptions = {},
): Handlers {
  checkObject('schemas', schemas);
  check(!(Symbol.iterator in schemas), 'schemas must be an object with a schema for each event type');
  const schemaOf = new Map(Object.entries<StandardSchemaV1 | undefined>(schemas));
  for (const [type, schema] of schemaOf) {
    checkEventType('schemas', type);
    if (schema !== undefined) checkSchema(`schemas['${type}']`, schema);
  }
  handlerTable(on as Handlers); // for its checks
  checkObject('options', options);
  checkKnownOptions('withSchemas', options, ['onDrift']);
  checkFunction('onDrift', options.onDrift);
  const handlers = Object.entries(on as { [type: string]: Handler | undefined }).map(([type, handler]) => {
    const schema = schemaOf.get(type);
    return [type, handler && schema ? validated(handler, schema, options) : handler];
  });
  return Object.fromEntries(handlers);
}

/** Returns a handler that runs only for data that matches the schema. */
function validated(handler: Handler, schema: StandardSchemaV1, { onDrift }: SchemaOptions): Handler {
  const known = knownFieldsOf(schema);
  const watch = onDrift && watchDrift(known, onDrift);
  const pathsOf = pathReader(known);
  return async (event, context) => {
    const result = await validate(schema, event.data).catch((cause) => {
      throw new WebhookError('handler_failed', { message: `The schema of ${event.type} failed.`, cause });
    });
    watch?.(event, result);
    if (result.issues) throw unexpectedData(event.type, pathsOf(result.issues));
    const typed = { ...event, data: result.value } as typeof event;
    return handler(typed, { ...context, delivery: { ...context.delivery, event: typed } });
  };
}

const MAX_DIFFERENT_PATHS = 100;

/** Returns {@link issuePaths} for a schema. Once there are many different ones, others become `data`, for metrics. */
function pathReader(known: FieldsReader): (issues: readonly unknown[]) => string[] {
  const before = new Set<string>();
  const counted = (path: string) => {
    if (before.size < MAX_DIFFERENT_PATHS) before.add(path);
    return before.has(path) ? path : 'data';
  };
  return (issues) => [...new Set(issuePaths(issues, known()).map(counted))];
}

function unexpectedData(type: string, paths: readonly string[]): WebhookError {
  return new WebhookError('unexpected_data', {
    message: `The data of ${type} does not match its schema: ${paths.join(', ')}.`,
    hint: 'Change the schema if the service now sends such data: a retry of the delivery then succeeds.',
    paths,
  });
}
