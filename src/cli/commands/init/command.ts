import { Command, Option } from '@commander-js/extra-typings';
import { confirmed } from '../../confirmed.js';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';
import { detectProject, FRAMEWORKS } from './detect-project.js';
import { receiverFiles } from './receiver-files.js';
import { type PlannedFile, planFiles, writeFiles } from './write-files.js';

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
    'npx service-webhooks doctor http://localhost:<port>/webhooks',
  ];
  out.record({ kind: 'next', steps }, [['strong', 'Next']], ...steps.map((step) => [`  ${step}`]));
}
