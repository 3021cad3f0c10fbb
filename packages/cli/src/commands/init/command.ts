import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command, Option } from '@commander-js/extra-typings';
import { confirmed } from '../../confirmed.js';
import { EXIT, fileFailure } from '../../failure.js';
import type { Session } from '../../session.js';
import { detectProject, FRAMEWORKS } from './detect-project.js';
import { type ReceiverFiles, receiverFiles } from './receiver-files.js';

export function initCommand(session: Session) {
  return new Command('init')
    .description(
      'Adds a receiver to the app in this folder: a route at /webhooks, its test, and a line in .env. It shows the files ' +
        'first, writes them after a yes, and never overwrites a file.',
    )
    .addOption(new Option('--framework <name>', 'the framework; detected from package.json').choices(FRAMEWORKS))
    .option('--typescript', 'write TypeScript; detected from tsconfig.json')
    .option('--dry-run', 'show the files and write nothing')
    .option('--yes', 'write without asking')
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks init --dry-run
  service-webhooks init --framework hono --typescript --yes`,
    )
    .action(async ({ framework, typescript, dryRun, yes }) => {
      const folder = process.cwd();
      const project = detectProject(folder, { ...(framework && { framework }), ...(typescript && { typescript }) });
      const files = receiverFiles(project);
      const planned = planFiles(folder, files);
      session.out.record({ kind: 'project', ...project }, [
        ['strong', project.framework],
        project.typescript ? 'TypeScript' : 'JavaScript',
        project.module === 'esm' ? 'ES modules' : 'CommonJS',
        `test with ${project.runner}`,
      ]);
      for (const file of planned) show(session, file);
      if (!dryRun && (yes || (await confirmed(session, 'Write these files?', TO_WRITE)))) {
        writeFiles(folder, planned);
        showNextSteps(session, files.env.path, files.mount);
      }
      session.exitCode = EXIT.ok;
    });
}

const TO_WRITE = 'pass --yes to write, or --dry-run to look';

const WORDS = { create: 'new', append: 'add a line', keep: 'exists, kept' } as const;

function show({ out }: Session, { path, action, text }: PlannedFile): void {
  const lines = action === 'keep' ? [] : text.trimEnd().split('\n');
  out.record(
    { kind: 'file', path, action, text },
    [[action === 'keep' ? 'warn' : 'good', WORDS[action]], path],
    ...lines.map((line) => [['faint', `    ${line}`] as const]),
  );
}

function showNextSteps({ out }: Session, env: string, mount: readonly string[]): void {
  const steps = [
    'npm install service-webhooks',
    `put the signing secret of the endpoint into ${env}, and keep ${env} out of git`,
    ...mount,
    'npx service-webhooks-cli doctor http://localhost:<port>/webhooks',
  ];
  out.record({ kind: 'next', steps }, [['strong', 'Next']], ...steps.map((step) => [`  ${step}`]));
}

/** One file and its change: an existing file is kept, and only the environment gets another line. */
interface PlannedFile {
  path: string;
  action: 'create' | 'append' | 'keep';
  text: string;
}

/** Returns what would be written into a folder. */
function planFiles(folder: string, { files, env }: ReceiverFiles): PlannedFile[] {
  const routes = files.map(({ path, text }): PlannedFile => {
    return { path, action: existsSync(join(folder, path)) ? 'keep' : 'create', text };
  });
  return [...routes, planEnv(folder, env)];
}

function planEnv(folder: string, { path, line }: ReceiverFiles['env']): PlannedFile {
  const file = join(folder, path);
  const present = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (present === undefined) return { path, action: 'create', text: `${line}\n` };
  if (/^\s*(?:export\s+)?WEBHOOK_SECRET\s*=/m.test(present)) return { path, action: 'keep', text: '' };
  return { path, action: 'append', text: `${present === '' || present.endsWith('\n') ? '' : '\n'}${line}\n` };
}

/** Writes the planned files. A file that has appeared in the meantime is not overwritten. @throws Failure */
function writeFiles(folder: string, planned: readonly PlannedFile[]): void {
  for (const { path, action, text } of planned) {
    if (action === 'keep') continue;
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      if (action === 'append') appendFileSync(file, text);
      else writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      throw fileFailure(path, error);
    }
  }
}
