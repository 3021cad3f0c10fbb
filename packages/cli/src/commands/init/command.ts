import { Command, Option } from '@commander-js/extra-typings';
import { confirmed } from '../../confirmed.js';
import { detectProject, FRAMEWORKS, pageFor } from '../../detect-project.js';
import { EXIT, Failure } from '../../failure.js';
import type { Session } from '../../session.js';
import { envFileOf } from '../../start-command.js';
import { nextSteps, type Step } from './next-steps.js';
import { type PlannedFile, planFiles, SHOWN_SECRET, writeFiles } from './planned-files.js';
import { receiverFile } from './receiver-files.js';
import { receiverTest } from './receiver-test.js';

export function initCommand(session: Session) {
  return new Command('init')
    .description(
      'Adds a receiver to the app in this folder: a route at /webhooks, its test, and a random secret in .env. It shows the ' +
        'files first, writes them after a yes, never overwrites a file, and prints the steps that remain.',
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
      const page = framework === undefined ? pageFor(project) : undefined;
      if (page !== undefined) {
        const advice = `follow docs/quickstart/${page}.md, or choose one of them with --framework.`;
        throw new Failure(
          'usage',
          `init knows ${FRAMEWORKS.join(', ')}, and this app has another framework: ${advice}`,
        );
      }
      const route = receiverFile(project);
      const test = receiverTest(project, route.path);
      const envFile = envFileOf(folder, project);
      const planned = planFiles(folder, [route, test], envFile);
      const { packageJson: _, ...shown } = project;
      session.out.record({ kind: 'project', ...shown }, [
        ['strong', project.framework],
        project.typescript ? 'TypeScript' : 'JavaScript',
        project.module === 'esm' ? 'ES modules' : 'CommonJS',
        `test with ${project.runner}`,
      ]);
      for (const file of planned) show(session, file);
      if (!dryRun && (yes || (await confirmed(session, 'Write these files?', TO_WRITE)))) {
        writeFiles(folder, planned);
        const isSecretNew = planned.some(({ path, action }) => path === envFile && action !== 'keep');
        showNextSteps(session, nextSteps(folder, project, { route: route.path, test: test.path, isSecretNew }));
      }
      session.exitCode = EXIT.ok;
    });
}

const TO_WRITE = 'pass --yes to write, or --dry-run to look';

const WORDS = {
  create: 'new',
  append: 'add a line',
  fill: 'set the empty WEBHOOK_SECRET',
  keep: 'exists, kept',
} as const;

function show({ out }: Session, { path, action, text }: PlannedFile): void {
  const lines = action === 'keep' ? [] : text.trim().split('\n');
  out.record(
    { kind: 'file', path, action, text },
    [[action === 'keep' ? 'warn' : 'good', WORDS[action]], path],
    ...lines.map((line) => [
      ['faint', `    ${line}`] as const,
      line.includes(SHOWN_SECRET) && '(a random secret, which only the file shows)',
    ]),
  );
}

function showNextSteps({ out }: Session, steps: readonly Step[]): void {
  out.record(
    { kind: 'next', steps },
    [],
    [['strong', 'Next']],
    ...steps.flatMap(({ says, lines, shows }, index) => [
      [`${index + 1}. ${says}`],
      ...lines.map((line) => [['strong', `     ${line}`] as const]),
      ...(shows ? [[`   ${shows}`]] : []),
    ]),
  );
}
