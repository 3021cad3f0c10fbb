import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AppProject, dependsOn } from '../../detect-project.js';
import { envFileOf, startCommand } from '../../start-command.js';
import { mountsOf } from './receiver-files.js';
import { testCommand } from './receiver-test.js';

/** One of the steps that remain: a sentence, and the commands to run or the lines to add. */
export interface Step {
  step: 'install' | 'mount' | 'test' | 'start' | 'doctor' | 'secret';
  says: string;
  lines: readonly string[];
}

/** Returns what remains to be done after the files are written. */
export function nextSteps(
  folder: string,
  project: AppProject,
  { route, test, isSecretNew }: { route: string; test: string; isSecretNew: boolean },
): Step[] {
  const { framework } = project;
  const { command, entry } = startCommand(folder, project);
  const envFile = envFileOf(folder, project);
  const port = framework === 'workers' ? 8787 : 3000;
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
      step: 'doctor',
      says: `While the app runs, check it from a second terminal. Write the port of your app if it is not ${port}:`,
      lines: [`npx service-webhooks-cli doctor http://localhost:${port}/webhooks`],
    },
  );
  if (isSecretNew) steps.push({ step: 'secret', says: realSecret(envFile), lines: [] });
  return steps;
}

function realSecret(envFile: string): string {
  return `Before real deliveries: the secret in ${envFile} is random and only for this machine. Replace it with the signing secret that the service shows for your endpoint.`;
}

const INSTALL = { npm: 'npm install', pnpm: 'pnpm add', yarn: 'yarn add', bun: 'bun add' } as const;

/** Returns the command that installs the library; undefined where package.json lists it and it is there. */
function installCommand(folder: string, { packageManager, packageJson }: AppProject): string | undefined {
  if (!dependsOn(packageJson, 'service-webhooks')) return `${INSTALL[packageManager]} service-webhooks`;
  return isThere(folder) ? undefined : `${packageManager} install`;
}

function isThere(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules/service-webhooks/package.json'))) return true;
  const parent = dirname(folder);
  return parent !== folder && isThere(parent);
}
