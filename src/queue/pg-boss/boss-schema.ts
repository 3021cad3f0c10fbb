import { WebhookError } from '../../errors.js';

/**
 * Checks the schema of a queue or a processor against the schema of its `PgBoss`. Where the app has passed a `db` of its
 * own, the schema is not known before the first query.
 *
 * @throws WebhookError `invalid_option`
 */
export function checkSchema(subject: string, boss: { getDb(): unknown }, schema: string): void {
  const { config } = Object(boss.getDb()) as { config?: { schema?: unknown } };
  const own = config?.schema;
  if (typeof own !== 'string' || own === schema) return;
  throw new WebhookError('invalid_option', {
    message: `The PgBoss uses the schema '${own}', and ${subject} the schema '${schema}'.`,
    hint: `Pass schema: '${own}' to ${subject}.`,
  });
}

/** Returns the error where the schema does not have the tables or the jobs of the `PgBoss`. */
export function notInSchema(subject: string, schema: string): WebhookError {
  return new WebhookError('invalid_option', {
    message: `${subject} uses the schema '${schema}', and the tables and jobs of this PgBoss are in another schema.`,
    hint: `Pass the schema of new PgBoss({ schema }) to ${subject}.`,
  });
}
