import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { isInstalled } from '../integration/file-of.js';
import { runtimes } from '../runtimes/runtimes.js';
import { ROOT } from '../support/markdown.js';
import { filesIn } from '../support/page-files.js';
import { PATIENTLY } from '../support/patiently.js';
import { freePort } from '../support/server-process.js';

interface Quickstart {
  page: string;
  /** The section whose install, files and start take the place of those of the page's start. */
  section?: string;
  /** The folder whose packages stand for those that the page installs: empty for the repository. */
  packages?: string;
  /** The files of the app that the reader has, where the page begins in one. */
  app?: Record<string, string>;
  /** The reader's app is JavaScript, because for TypeScript the framework wants packages that are not here. */
  isJavaScript?: true;
  /** What gives the app a port that is free here, where no file of the page names one. */
  portOption?: string;
  /** What runs it besides Node. */
  runtime?: string;
}

const quickstarts: Quickstart[] = [
  { page: 'README.md' },
  { page: 'docs/quickstart/express.md' },
  { page: 'docs/quickstart/fastify.md' },
  { page: 'docs/quickstart/hono.md' },
  { page: 'docs/quickstart/koa.md' },
  { page: 'docs/quickstart/node.md' },
  { page: 'docs/quickstart/h3.md' },
  { page: 'docs/quickstart/elysia.md' },
  { page: 'docs/quickstart/elysia.md', section: 'On Bun', runtime: 'bun' },
  { page: 'docs/quickstart/bun-and-deno.md', runtime: 'bun', portOption: '' },
  { page: 'docs/quickstart/google-cloud-functions.md', portOption: '--port' },
  {
    page: 'docs/quickstart/next.md',
    packages: 'examples/next',
    app: {
      'package.json': '{ "private": true }',
      // Where the packages are that are linked here.
      'next.config.mjs': `export default { turbopack: { root: ${JSON.stringify(ROOT)} } };\n`,
    },
    isJavaScript: true,
    portOption: '--port',
  },
  {
    page: 'docs/quickstart/sveltekit.md',
    packages: 'examples/sveltekit',
    app: {
      'package.json': '{ "type": "module" }',
      'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite';\nexport default { plugins: [sveltekit()] };\n`,
      'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    },
    portOption: '--port',
  },
  { page: 'docs/quickstart/astro.md', packages: 'examples/astro', portOption: '--port' },
  {
    page: 'docs/quickstart/workers.md',
    packages: 'test/integration/wrangler',
    runtime: 'node-22',
    portOption: '--port',
  },
];

/** The other pages, with the reason. */
const notFollowed: Record<string, string> = {
  'docs/quickstart/nest.md': 'nest-page.test.ts follows it in an app of each version of Nest',
  'docs/quickstart/react-router.md': 'it starts react-router, whose package @react-router/dev is not installed here',
  'docs/quickstart/aws-lambda.md': 'it deploys to AWS',
  'docs/quickstart/azure-functions.md': 'it starts func, the Azure Functions Core Tools',
  'docs/quickstart/vercel-and-netlify.md': 'it starts vercel dev and netlify dev, which need an account',
};

it('each quickstart is followed, or a reason says why it is not', () => {
  const pages = readdirSync(join(ROOT, 'docs/quickstart')).map((name) => `docs/quickstart/${name}`);
  const followed = new Set(quickstarts.map(({ page }) => page).filter((page) => page !== 'README.md'));
  expect([...followed, ...Object.keys(notFollowed)].toSorted()).toEqual(pages.toSorted());
});

describe.each(quickstarts)('the start of $page, followed in an empty folder', (quickstart) => {
  const { packages = '', runtime, section } = quickstart;
  const command = runtimes.find(({ name }) => name === runtime)?.command;
  const isPresent = (packages === '' || isInstalled(packages)) && (runtime === undefined || command !== undefined);

  it.skipIf(!isPresent)('the app prints what the page shows, and doctor finds nothing', async () => {
    const { install, start, files, send, doctor, shown } = stepsOf(quickstart.page, section);
    expect(importsOf(files).filter((name) => !install.includes(name))).toEqual([]);

    const port = `${await freePort()}`;
    const folder = emptyFolder(packages);
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    // As `npm init -y` has it.
    write('package.json', '{ "type": "commonjs" }');
    for (const [path, text] of Object.entries(quickstart.app ?? {})) write(path, text);
    const { isJavaScript, portOption = '' } = quickstart;
    for (const [path, code] of files)
      write(isJavaScript ? path.replace(/\.ts$/, '.js') : path, code.replaceAll('3000', port));

    const withPort = `${start.trimEnd()} ${portOption && `${portOption} ${port}`}`;
    const app = run(folder, withPort, { ...pathTo(folder, command), PORT: port });
    const atPort = (line: string) => line.replace(/\b(3000|4321|5173|8080|8787)\b/, port);
    const sent = await vi.waitFor(async () => {
      const { output, ended } = run(folder, atPort(send));
      expect(await ended, `${output()}\n${app.output()}`).toBe(0);
      return output();
    }, PATIENTLY);
    expect(sent).toContain('200  acknowledged');
    await vi.waitFor(() => expect(app.output()).toContain(shown.replaceAll('3000', port)), PATIENTLY);
    const checked = run(folder, atPort(doctor));
    expect(await checked.ended, checked.output()).toBe(0);
    expect(checked.output()).toMatch(/^31 passed, 0 failed\n$/m);
  });
});

/** What a page tells its reader to do; a section that takes the place of the start has the same `.env` and commands. */
function stepsOf(page: string, section = 'Start') {
  const common = sectionOf(page, 'Start');
  const own = sectionOf(page, section);
  const [install = '', start = ''] = blocksIn(own, 'sh');
  const [, , commands = ''] = blocksIn(common, 'sh');
  const [send = '', doctor = ''] = commands.trim().split('\n');
  const [shown = expect.fail(`${page} does not say what the app prints`)] = blocksIn(common, 'text');
  const [env = expect.fail(`${page} has no secret`)] = filesIn(common).filter(([path]) =>
    /^\.(env|dev\.vars)/.test(path),
  );
  return { install, start, send, doctor, shown, files: [...filesIn(own), env] };
}

function sectionOf(page: string, heading: string): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const [, section] = new RegExp(`^## ${heading}\\n(.*?)^## `, 'ms').exec(text) ?? [];
  return section ?? expect.fail(`${page} has no section ${heading}`);
}

function blocksIn(section: string, language: string): string[] {
  const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, code = '']) => code);
}

/** The packages that the code imports, and that neither Node nor a framework that is there brings. */
function importsOf(files: [path: string, code: string][]): string[] {
  const imports = files.flatMap(([, code]) => [...code.matchAll(/from '([^'.$]+)'/g)].map(([, name = '']) => name));
  return imports
    .filter((name) => !/^(node|cloudflare|astro):/.test(name) && !builtinModules.includes(name))
    .map((name) => (name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : name.replace(/\/.*/, '')))
    .filter((name) => name !== 'astro');
}

/** A folder with the packages of the repository as npm installs them, below one where the framework is, with its programs. */
function emptyFolder(packages: string): string {
  const parent = join(ROOT, packages, '.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'quickstart-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const modules = join(folder, 'node_modules');
  cpSync(join(inject('installed').together, 'node_modules'), modules, { recursive: true, verbatimSymlinks: true });
  const programs = join(ROOT, packages, 'node_modules/.bin');
  for (const name of readdirSync(programs)) {
    const link = join(modules, '.bin', name);
    if (!existsSync(link)) symlinkSync(realpathSync(join(programs, name)), link);
  }
  return folder;
}

/** Puts the program of a runtime on the path, by the name that the page calls it. */
function pathTo(folder: string, [program]: string[] = []) {
  if (program === undefined) return {};
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  symlinkSync(program, join(bin, program.replace(/^.*\//, '').replace('.exe', '')));
  return { PATH: [bin, process.env['PATH']].join(delimiter) };
}

interface Running {
  output(): string;
  ended: Promise<number | null>;
}

/** Runs a line of the page in a shell. It is stopped at the end of the test. */
function run(cwd: string, line: string, env: Record<string, string> = {}): Running {
  const { WEBHOOK_SECRET: _, NODE_OPTIONS: __, VITEST: ___, ...rest } = process.env;
  const child = spawn('sh', ['-c', line], {
    cwd,
    detached: true,
    env: { ...rest, NODE_ENV: 'development', ASTRO_TELEMETRY_DISABLED: '1', NEXT_TELEMETRY_DISABLED: '1', ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(() => stop(child, ended));
  return { output: () => output, ended };
}

async function stop({ pid, exitCode }: ChildProcess, ended: Promise<unknown>) {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
  await ended;
}
