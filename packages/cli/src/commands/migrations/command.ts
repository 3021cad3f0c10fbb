import { Command, Option } from '@commander-js/extra-typings';
import { EXIT, Failure } from '../../failure.js';
import { SOURCES } from '../../secrets.js';
import { MYSQL_URL, POSTGRES_URL, readServerUrl } from '../../server-url.js';
import type { Session } from '../../session.js';
import { type DatabaseKind, KINDS, migrationScript, openDatabase, tablesOf } from './tables.js';

export function migrationsCommand(session: Session) {
  return new Command('migrations')
    .description(
      'The tables of the stores, inboxes and jobs: the SQL that creates or updates them, and whether they are up to date.',
    )
    .addCommand(printCommand(session))
    .addCommand(statusCommand(session))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks migrations print --postgres > migrations/0007_webhooks.sql
  service-webhooks migrations status --postgres postgres://localhost/app
  service-webhooks migrations status --mysql
  service-webhooks migrations status --sqlite app.db`,
    );
}

const withTables = (command: Command) =>
  command
    .option('--table <name>', 'the table of the store (webhook_deliveries)')
    .option('--inbox-table <name>', 'the table of the inbox (webhook_inbox)')
    .option('--jobs-table <name>', 'the table of the jobs (webhook_deliveries_jobs)');

function printCommand(session: Session) {
  return withTables(new Command('print').summary('the SQL that creates the tables or brings them up to date'))
    .addOption(new Option('--postgres', 'for PostgreSQL').conflicts(['mysql', 'sqlite']))
    .addOption(new Option('--mysql', 'for MySQL and MariaDB').conflicts('sqlite'))
    .addOption(new Option('--sqlite', 'for SQLite and D1'))
    .action(({ postgres, mysql, sqlite, ...names }) => {
      session.out.verbatim(migrationScript(kindOf({ postgres, mysql, sqlite }), names));
      session.exitCode = EXIT.ok;
    });
}

function statusCommand(session: Session) {
  return withTables(new Command('status').summary('whether the tables are up to date'))
    .addOption(
      new Option('--postgres [url]', `the URL of the database, or ${SOURCES}; env:${POSTGRES_URL.variable}`).conflicts([
        'mysql',
        'sqlite',
      ]),
    )
    .addOption(new Option('--mysql [url]', 'the same for MySQL and MariaDB').conflicts('sqlite'))
    .option('--sqlite <file>', 'the file of the database')
    .action(async ({ postgres, mysql, sqlite, ...names }) => {
      const kind = kindOf({ postgres, mysql, sqlite });
      const server = kind === 'mysql' ? MYSQL_URL : POSTGRES_URL;
      const address = sqlite ?? (await readServerUrl(session, kind, server, postgres ?? mysql));
      const database = await openDatabase(kind, address);
      try {
        const { version: wanted, tables } = tablesOf(kind, names);
        const versions = await Promise.all(
          tables.map(async ({ name, purpose }) => {
            const version = await database.versionOf(name);
            // An app without jobs has no table of them.
            const isNeeded = version !== undefined || purpose !== 'jobs' || names.jobsTable !== undefined;
            return { name, version, isNeeded };
          }),
        );
        for (const { name, version, isNeeded } of versions) {
          const state = version === undefined ? 'missing' : version < wanted ? 'behind' : 'current';
          session.out.record({ kind: 'table', table: name, state, version, wanted }, [
            [state === 'current' ? 'good' : isNeeded ? 'bad' : 'faint', state],
            name,
            version !== undefined && `version ${version} of ${wanted}`,
            !isNeeded && 'only createJobs needs it',
          ]);
        }
        const isCurrent = versions.every(
          ({ version, isNeeded }) => !isNeeded || (version !== undefined && version >= wanted),
        );
        if (!isCurrent)
          session.out.note(['faint', `Run what 'npx service-webhooks-cli migrations print --${kind}' prints.`]);
        session.exitCode = isCurrent ? EXIT.ok : EXIT.no;
      } finally {
        await database.close();
      }
    });
}

function kindOf(options: { readonly [Kind in DatabaseKind]: unknown }): DatabaseKind {
  const kind = KINDS.find((one) => options[one] !== undefined);
  if (kind === undefined) throw new Failure('usage', 'pass --postgres, --mysql or --sqlite.');
  return kind;
}
