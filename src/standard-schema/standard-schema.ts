/**
 * The interface by which forms, routers and queues take a schema of any library: Standard Schema, version 1
 * (https://standardschema.dev), as far as a schema has to have it.
 */
export interface StandardSchema<Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'service-webhooks';
    /** Never throws, never a promise. */
    readonly validate: (value: unknown) => StandardResult<Output>;
    /** For the compiler alone. */
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The value that was given, or everything that is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  /** The field, from the outside in; empty where the value is no object. */
  readonly path: readonly string[];
}
