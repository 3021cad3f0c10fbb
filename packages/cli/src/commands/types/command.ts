import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { DEFAULT_DIRECTORY } from '../../captures.js';
import { EXIT, Failure } from '../../failure.js';
import { repeatable } from '../../options.js';
import { withQueueOptions } from '../../queues/queue-options.js';
import type { Session } from '../../session.js';
import type { Format } from './dialects.js';
import { learnTypes } from './learn-types.js';
import { render } from './render.js';
import { noteFindings, reportFile, reportText } from './report.js';
import { readWrittenFile, writeTypesFile } from './written-file.js';

const FORMATS = ['types', 'zod', 'valibot'] as const satisfies Format[];

export function typesCommand(session: Session, args: readonly string[] = []) {
  const command = new Command('types')
    .description('Learns the fields of data from deliveries, and writes them as TypeScript types or as schemas.')
    .argument('[captures...]', `captures, their directories or ids, JSON lines, - for stdin (${DEFAULT_DIRECTORY})`)
    .option('-o, --out <file>', 'the file to write; without it the types are printed')
    .addOption(new Option('--format <format>', 'what is written').choices(FORMATS).default('types' as const))
    .option('--check', 'write nothing, and exit with 1 where the file would change')
    .option('--record <path>', 'an object whose keys are data, as in data.byUser (repeatable)', recordPaths);
  return withQueueOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks types --out src/webhook-types.d.ts
  service-webhooks types fixtures/webhooks --out src/webhook-types.d.ts --check
  service-webhooks types --format zod --out src/webhook-schemas.ts
  service-webhooks types --record data.byUser --out src/webhook-types.d.ts
  service-webhooks types --sqlite webhooks.db
  service-webhooks types events.jsonl

The file has the names and the types of fields, and no value of a delivery. Signatures are not verified: name deliveries
that you trust.`,
    )
    .action(async (names, options) => {
      const { out: file, format, check: isCheck = false, record: named = [], ...place } = options;
      checkFile(file, format, isCheck);
      const present = file === undefined ? undefined : await readWrittenFile(file);
      const learned = await learnTypes(session, names, { named, place });
      const text = render(format, learned.shapes);
      noteFindings(session.out, learned);
      session.exitCode = EXIT.ok;
      if (file === undefined) return reportText(session.out, learned, { format, text });
      if (isCheck && present !== text) session.exitCode = EXIT.no;
      else if (present !== text) await writeTypesFile(file, text);
      reportFile(session.out, learned, {
        file,
        format,
        present,
        text,
        writtenBy: isCheck ? writingCommand(args) : undefined,
      });
    });
}

function recordPaths(text: string, others: readonly string[] = []): readonly string[] {
  if (/^data([.[][^.\s]+)*$/.test(text)) return repeatable(text, others);
  throw new InvalidArgumentError('It takes a path from the event, as in data.byUser.');
}

/** @throws Failure */
function checkFile(file: string | undefined, format: Format, isCheck: boolean): void {
  if (isCheck && file === undefined) throw new Failure('usage', '--check needs --out, the file that it checks.');
  if (format === 'types' || !file?.endsWith('.d.ts')) return;
  throw new Failure('usage', `a schema is code, which ${file} cannot have: pass --out with a name that ends in .ts.`);
}

const NOT_FOR_WRITING = ['--check', '--json', '--text', '--no-color', '--verbose'];

/** The command line that writes what `--check` has found to differ. */
function writingCommand(args: readonly string[]): string {
  const words = args.filter((word) => !NOT_FOR_WRITING.includes(word));
  return [
    'npx service-webhooks-cli',
    ...words.map((word) => (/^[\w./:=@-]+$/.test(word) ? word : JSON.stringify(word))),
  ].join(' ');
}
