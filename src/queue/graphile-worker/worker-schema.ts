import { WebhookError } from '../../errors.js';

const SCHEMAS = `
SELECT n.nspname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = '_private_jobs' ORDER BY n.nspname`;

/**
 * Checks that a schema has the tables of graphile-worker. Rejects with a WebhookError `invalid_option` that names the
 * schemas which have them.
 */
export async function checkTables(
  subject: string,
  query: (text: string) => PromiseLike<{ rows: unknown[] }>,
  schema: string,
): Promise<void> {
  const { rows } = await query(SCHEMAS);
  const names = (rows as { name: string }[]).map(({ name }) => name);
  if (names.includes(schema)) return;
  const [other] = names;
  const found = other === undefined ? '' : `, and the schema '${names.join("', '")}' has them`;
  throw new WebhookError('invalid_option', {
    message: `${subject} uses the schema '${schema}', which has no tables of graphile-worker${found}.`,
    hint:
      other === undefined
        ? 'Run its migrations first, with runMigrations() or the first run().'
        : `Pass schema: '${other}' to ${subject}.`,
  });
}

/** Returns the error where a running job is not in the schema. */
export function notInSchema(subject: string, schema: string): WebhookError {
  return new WebhookError('invalid_option', {
    message: `${subject} uses the schema '${schema}', and the running job is not there: run() uses another schema.`,
    hint: `Pass the schema of run() to ${subject}.`,
  });
}
