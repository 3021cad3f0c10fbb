import { check, checkKnownOptions } from '../option-checks.js';

/** How a client is recognised: the methods that are used, and the way to pass it. */
export interface ClientForm {
  methods: readonly string[];
  /** An example of the value, as in `{ pg: pool }`. */
  example: string;
}

/**
 * Returns the name under which a client was passed. A client is never recognised by its methods: some libraries have
 * methods of the same names with other parameters.
 *
 * @throws WebhookError `invalid_option` unless there is exactly one client that has its methods
 */
export function clientName<Name extends string>(
  subject: string,
  clients: { readonly [N in Name]?: unknown },
  forms: { readonly [N in Name]: ClientForm },
): Name {
  const known = Object.keys(forms) as Name[];
  const given = Object.fromEntries(Object.entries(clients ?? {}).filter(([, client]) => client !== undefined));
  const names = Object.keys(given);
  if (names.length === 1) checkKnownOptions(`the client of ${subject}`, given, known);
  const name = known.find((one) => hasMethods(given[one], forms[one].methods));
  const examples = known.map((one) => `{ ${one}: ${forms[one].example} }`);
  check(name !== undefined && names.length === 1, `${subject} takes ${examples.join(' or ')}`);
  return name;
}

export function hasMethods(client: unknown, methods: readonly string[]): boolean {
  return methods.every(
    (method) => typeof (client as Record<string, unknown> | undefined | null)?.[method] === 'function',
  );
}
