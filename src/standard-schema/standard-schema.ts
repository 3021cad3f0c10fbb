/**
 * A schema that forms, routers and queues accept from any library: the part of Standard Schema, version 1
 * (https://standardschema.dev), that every schema must have.
 */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'service-webhooks';
    /** Validates a value. Never throws and never returns a promise. */
    readonly validate: (value: unknown) => StandardResult<Output>;
    /** Types for the compiler only. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The valid value, or the list of its issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One reason why a value is invalid. */
export interface StandardIssue {
  /** The reason, as a sentence. */
  readonly message: string;
  /** The path to the field, from the outside in; empty where the value is not an object. */
  readonly path: readonly string[];
}
