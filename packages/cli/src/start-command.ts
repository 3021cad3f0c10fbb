import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type AppProject, dependsOn, detectProject } from './detect-project.js';

/** How an app is started so that it has the secret of its environment file. */
export interface StartCommand {
  command: string;
  /** The source file that starts the app; undefined where it cannot be found, and `command` then names an example. */
  entry: string | undefined;
}

/** Returns the file that has the secret on a developer's machine. Next prefers `.env.local`, where there is one. */
export function envFileOf(folder: string, { framework }: AppProject): '.env' | '.env.local' | '.dev.vars' {
  if (framework === 'workers') return '.dev.vars';
  return framework === 'next' && existsSync(join(folder, '.env.local')) ? '.env.local' : '.env';
}

/** The option of Node, and of tsx, that reads an environment file: Node reads none by itself. */
const ENV_OPTION = '--env-file=.env';

/** Returns the command for the app in a folder, and its environment file; an example where the folder has no app. */
export function startInFolder(folder: string): { command: string; envFile: string } {
  try {
    const project = detectProject(folder);
    return { command: startCommand(folder, project).command, envFile: envFileOf(folder, project) };
  } catch {
    return { command: `node ${ENV_OPTION} server.js`, envFile: '.env' };
  }
}

/** Returns the command that starts the app in a folder with the secret of {@link envFileOf}. */
export function startCommand(folder: string, project: AppProject): StartCommand {
  const { framework, packageManager, packageJson } = project;
  const { scripts = {} } = packageJson;
  const entry = entryOf(folder, project);
  if (framework === 'workers') return { command: 'npx wrangler dev', entry };
  if (framework === 'next') {
    return { command: scripts['dev'] ? `${packageManager} run dev` : 'npx next dev', entry };
  }
  if (framework === 'nest' && dependsOn(packageJson, '@nestjs/cli')) {
    return { command: 'npx nest start --env-file .env', entry };
  }
  for (const name of ['dev', 'start']) {
    const script = scripts[name];
    if (script === undefined) continue;
    // These read .env themselves, and a script may load it in its own way.
    if (/^(bun|fastify start|vite|astro|nuxt|nuxi)\b|--env-file|dotenv/.test(script))
      return { command: `${packageManager} run ${name}`, entry };
    const command = withEnvFile(script, scripts, packageManager);
    if (command !== undefined) return { command, entry };
  }
  const program = entry?.endsWith('ts') ? 'npx tsx' : 'node';
  return {
    command: `${program} ${ENV_OPTION} ${entry ?? (project.typescript ? 'dist/server.js' : 'server.js')}`,
    entry,
  };
}

/** Returns the command of a script with the option added; undefined for one whose program does not have it. */
function withEnvFile(
  script: string,
  scripts: Readonly<Record<string, string>>,
  packageManager: string,
): string | undefined {
  const [, program, rest = ''] = /^(?:npx )?(node|nodemon|tsx watch|tsx) ([^&|;<>"'`$]+)$/.exec(script.trim()) ?? [];
  if (program === undefined) return undefined;
  if (program.startsWith('tsx')) return `npx ${program} ${ENV_OPTION} ${rest}`;
  // nodemon runs TypeScript with another program, and takes options of its own.
  if (program === 'nodemon' && !/^\S+\.[cm]?js$/.test(rest)) return undefined;
  const start = `node ${program === 'nodemon' ? '--watch ' : ''}${ENV_OPTION} ${rest}`;
  const isBuilt = BUILT.test(fileIn(rest) ?? '') && scripts['build'] !== undefined;
  return isBuilt ? `${packageManager} run build && ${start}` : start;
}

/** The folders of compiled files. */
const BUILT = /^(?:\.\/)?(dist|build|lib|out)\//;

/** Returns the file among the words of a command. */
function fileIn(words: string): string | undefined {
  return words.split(/\s+/).find((word) => !word.startsWith('-'));
}

const NAMES = ['server', 'app', 'index', 'main'].flatMap((name) => [`src/${name}`, name]);

/** Returns the source file that starts the app: that of a script, of `main`, or one with a usual name. */
function entryOf(folder: string, { framework, typescript, packageJson }: AppProject): string | undefined {
  const { main, scripts = {} } = packageJson;
  const ofScripts = ['dev', 'start'].map((name) => /[\w./-]+\.[cm]?[jt]sx?\b/.exec(scripts[name] ?? '')?.[0]);
  const names = framework === 'nest' ? ['src/main', 'main'] : NAMES;
  const endings = typescript ? ['ts', 'mts', 'js', 'mjs', 'cjs'] : ['js', 'mjs', 'cjs'];
  const usual = names.flatMap((name) => endings.map((ending) => `${name}.${ending}`));
  const files = [...ofScripts, main, ...usual].flatMap((file) => (file ? [posix.normalize(file)] : []));
  return files.find((file) => !BUILT.test(file) && existsSync(join(folder, file)));
}
