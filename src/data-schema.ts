import { WebhookError } from './errors.js';

/** A schema of any library that implements Standard Schema, version 1, such as Zod, Valibot and ArkType. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of a schema of any library: its output, or the list of its issues. */
export type SchemaResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** An issue of a schema of any library. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Validates with a schema that must answer at once.
 *
 * @throws WebhookError `invalid_option` for a value that is not a schema or answers with a promise; what a schema throws
 */
export function validateNow<Output>(schema: StandardSchemaV1<unknown, Output>, data: unknown): SchemaResult<Output> {
  checkSchema('schema', schema);
  const result = schema['~standard'].validate(data);
  if (!isPromiseLike(result)) return readResult(result);
  result.then(undefined, () => {}); // an unhandled rejection ends the process
  throw invalidSchema('schema validates asynchronously', 'Use withSchemas, which awaits the result.');
}

/**
 * Validates with a schema that may answer with a promise.
 *
 * @throws WebhookError (as a rejection) `invalid_option` for a result of another kind; what a schema throws
 */
export async function validate<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  data: unknown,
): Promise<SchemaResult<Output>> {
  return readResult(await schema['~standard'].validate(data));
}

/**
 * Checks that a value is a schema of Standard Schema, version 1.
 *
 * @throws WebhookError `invalid_option`
 */
export function checkSchema(name: string, schema: unknown): asserts schema is StandardSchemaV1 {
  const { version, validate } = Object((schema as Partial<StandardSchemaV1> | null | undefined)?.['~standard']);
  if (version === 1 && typeof validate === 'function') return;
  throw invalidSchema(
    `${name} is not a schema of Standard Schema, version 1`,
    'Pass a schema of Zod 3.24, Valibot 1 or ArkType 2, or of a newer version.',
  );
}

/** Returns the result of a schema. Only a value without issues counts as valid. */
function readResult<Output>(result: SchemaResult<Output>): SchemaResult<Output> {
  const { issues } = Object(result);
  if (issues !== undefined) return { issues: Array.isArray(issues) ? issues : [] };
  if ('value' in Object(result)) return result;
  throw invalidSchema('schema returned neither a value nor issues', 'Check its validate function.');
}

/** Whether a value is a promise, of this engine or of a library. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

function invalidSchema(problem: string, hint: string): WebhookError {
  return new WebhookError('invalid_option', { message: `${problem}.`, hint });
}
