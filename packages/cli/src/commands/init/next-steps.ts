import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AppProject, dependsOn } from '../../detect-project.js';
import { envFileOf, startCommand } from '../../start-command.js';
import { mountsOf } from './receiver-files.js';
import { testCommand } from './receiver-test.js';

/** One of the steps that remain: a sentence, and the commands to run or the lines to add. */
export interface Step {
  step: 'install' | 'mount' | 'test' | 'start' | 'send' | 'doctor' | 'secret';
  says: string;
  lines: readonly string[];
  /** What the terminal then shows. */
  shows?: string;
}

/** Returns what remains to be done after the files are written. */
export function nextSteps(
  folder: string,
  project: AppProject,
  { route, test, isSecretNew }: { route: string; test: string; isSecretNew: boolean },
): Step[] {
  const { command, entry } = startCommand(folder, project);
  const envFile = envFileOf(folder, project);
  const port = portOf(project);
  const cli = COMMANDS[project.packageManager].cli;
  const steps: Step[] = mountsOf(project, route, entry).map((mount) => ({ step: 'mount', ...mount }));
  const install = installCommand(folder, project);
  if (install !== undefined) steps.unshift({ step: 'install', says: 'Install the library:', lines: [install] });
  const unknownEntry = command.includes('server.js') && entry === undefined;
  steps.push(
    { step: 'test', says: 'Run the test that was written:', lines: [testCommand(project, test)] },
    {
      step: 'start',
      says: unknownEntry
        ? `Start the app, with its own file in place of server.js. Node reads ${envFile} only with --env-file:`
        : `Start the app with this command, which reads the secret from ${envFile}:`,
      lines: [command],
    },
    {
      step: 'send',
      says: `While the app runs, send it a signed event from a second terminal. Write the port of your app if it is not ${port}:`,
      lines: [`${cli} send generation.completed ${port}`],
      shows: "It prints '200  acknowledged', and the app prints 'https://storage.example/clip.mp3'.",
    },
    {
      step: 'doctor',
      says: 'Check the app with good and hostile deliveries:',
      lines: [`${cli} doctor ${port}`],
      shows: "Its last line says '0 failed'.",
    },
  );
  if (isSecretNew) steps.push({ step: 'secret', says: realSecret(envFile), lines: [] });
  return steps;
}

function realSecret(envFile: string): string {
  return `Before real deliveries: the secret in ${envFile} is random and only for this machine. Replace it with the signing secret that the service shows for your endpoint.`;
}

/** How each package manager installs a package, and how it runs the command line, which is not installed. */
const COMMANDS = {
  npm: { install: 'npm install', cli: 'npx service-webhooks-cli' },
  pnpm: { install: 'pnpm add', cli: 'pnpm dlx service-webhooks-cli' },
  // Yarn installs no peer dependency, and the command line imports the library.
  yarn: { install: 'yarn add', cli: 'yarn dlx -p service-webhooks -p service-webhooks-cli service-webhooks' },
  bun: { install: 'bun add', cli: 'bunx service-webhooks-cli' },
} as const;

/** Returns the port on which the app listens: that of its script, or the usual one of its framework. */
function portOf({ framework, packageJson: { scripts = {} } }: AppProject): string {
  if (framework === 'workers') return '8787';
  const script = scripts['dev'] ?? scripts['start'] ?? '';
  const [, named] = / (?:-p|--port)[ =](\d+)\b/.exec(script) ?? [];
  return named ?? (/\bvite\b/.test(script) ? '5173' : '3000');
}

/** Returns the command that installs the library; undefined where package.json lists it and it is there. */
function installCommand(folder: string, { packageManager, packageJson }: AppProject): string | undefined {
  if (!dependsOn(packageJson, 'service-webhooks')) return `${COMMANDS[packageManager].install} service-webhooks`;
  return isThere(folder) ? undefined : `${packageManager} install`;
}

function isThere(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules/service-webhooks/package.json'))) return true;
  const parent = dirname(folder);
  return parent !== folder && isThere(parent);
}
