import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAYLOAD_VERSION, sign } from 'service-webhooks';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Checkout, createCheckout } from './support/checkout.js';
import { ERROR_STATUS } from './support/error-status.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const RUNNER = fileURLToPath(new URL('support/run-block.mjs', import.meta.url));
const SECRET = 'the secret of the documentation';

interface Block {
  /** `README.md:12` */
  at: string;
  language: string;
  /** What stands behind the language. `no-run`: it needs what not every machine has. Not in the README. */
  attribute: string | undefined;
  code: string;
}

const docs = existsSync(join(ROOT, 'docs')) ? readdirSync(join(ROOT, 'docs')) : [];
const pages = ['README.md', ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)];
const blocks = pages.flatMap(blocksOf);
const programs = blocks.filter(({ language }) => ['ts', 'js'].includes(language));
const inReadme = (language: string) => blocksOf('README.md').filter((block) => block.language === language);

let checkout: Checkout;
let demo: ReturnType<Checkout['run']>;
beforeAll(() => {
  checkout = createCheckout();
  demo = checkout.run('demo'); // builds the package, and the blocks run on that
  mkdirSync(join(checkout.path, 'blocks'));
  for (const block of programs) writeFileSync(fileOf(block), block.code);
}, 60_000);
afterAll(() => checkout.remove());

describe('the code blocks of the documentation', () => {
  it('are all found, and those of the README are all of a kind that is tested here', () => {
    for (const page of pages) {
      const fences = read(page).match(/^\s*(?:```|~~~)/gm) ?? [];
      expect(fences, page).toHaveLength(2 * blocksOf(page).length);
    }
    for (const { at, attribute } of blocks) expect([undefined, 'no-run'], at).toContain(attribute);
    for (const { at, language, attribute } of blocksOf('README.md')) {
      expect(['ts', 'sh', 'text'], at).toContain(language);
      expect(attribute, at).toBeUndefined();
    }
  });

  it('hold in the strictest TypeScript', { timeout: 60_000 }, () => {
    const { config } = ts.readConfigFile(join(checkout.path, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: ['blocks'] }, ts.sys, checkout.path);
    const program = ts.createProgram(programs.map(fileOf), { ...options, allowJs: true, checkJs: true });
    const problems = programs.flatMap((block) => {
      const file = program.getSourceFile(fileOf(block));
      const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      return found.map(({ messageText }) => `${block.at}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
    });
    expect(problems).toEqual([]);
  });

  it.each(programs.filter(({ attribute }) => attribute !== 'no-run'))(
    '$at runs',
    { timeout: 30_000 },
    async (block) => {
      const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
      const file = `${fileOf(block)}.run.js`;
      writeFileSync(file, ts.transpileModule(block.code, { compilerOptions }).outputText);
      await runAndDeliver(file);
    },
  );

  it.each(inReadme('sh'))('$at names commands that there are', ({ code }) => {
    const { scripts } = JSON.parse(read('package.json'));
    const known = ['npm ci', 'npm test', ...Object.keys(scripts).map((script) => `npm run ${script}`)];
    for (const command of code.trim().split(/\n| && /)) expect(known).toContain(command);
  });

  it.each(inReadme('text'))('$at is what the demo prints', ({ code }) => {
    for (const line of code.trim().split('\n')) expect(demo.stdout.split('\n')).toContain(line);
  });
});

describe('README.md', () => {
  it('installs the package by its name', () => {
    expect(read('README.md')).toContain(`npm install ${JSON.parse(read('package.json')).name}`);
  });

  it('has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('gives every code its right status, and leaves out only what refuses nothing', () => {
    const rows = [...read('README.md').matchAll(/^\| ([\d, ]+) \| (`.+?) \|/gm)];
    const listed = rows.flatMap(([, statuses = '', codes = '']) => {
      const numbers = statuses.split(', ');
      return codes.split(', ').map((code, i) => [code.replaceAll('`', ''), Number(numbers[i] ?? numbers.at(-1))]);
    });
    const { permanent_failure: _, ...refusals } = ERROR_STATUS;
    expect(listed.sort()).toEqual(Object.entries(refusals).sort());
  });
});

it.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
  expect(links.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
});

/** A block that starts a server has to accept a delivery and refuse a forgery; any other has to end well and print. */
async function runAndDeliver(file: string): Promise<void> {
  const env = { ...process.env, WEBHOOK_SECRET: SECRET };
  const child = fork(RUNNER, [file], { cwd: checkout.path, env, execArgv: [], silent: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  try {
    const started = once(child, 'message').then(([{ port }]) => ({ port, exitCode: 0 }));
    const ended = once(child, 'close').then(([exitCode]) => ({ port: undefined, exitCode }));
    const { port, exitCode } = await Promise.race([started, ended]);
    expect(exitCode, output).toBe(0);
    if (port === undefined) return expect(output).toMatch(/\S/);
    const url = `http://127.0.0.1:${port}/webhooks`;
    expect(await deliver(url, SECRET)).toMatchObject({ status: 200, text: expect.not.stringContaining('ignored') });
    expect(await deliver(url, 'a guess')).toMatchObject({ status: 401 });
  } finally {
    child.kill();
  }
}

async function deliver(url: string, secret: string) {
  const body = JSON.stringify({
    id: 'evt_1',
    type: 'generation.completed',
    version: PAYLOAD_VERSION,
    jobId: 'clip_1',
    data: { clipId: 'clip_1', feature: 'text-to-speech', durationSec: 4.2, downloadUrl: 'https://storage.example/1' },
    timestamp: new Date().toISOString(),
  });
  const headers = { 'content-type': 'application/json', ...sign({ body, secret }) };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

function blocksOf(page: string): Block[] {
  const text = read(page);
  return [...text.matchAll(/^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = '', 2: attribute, 3: code = '' }) => {
      return { at: `${page}:${text.slice(0, index).split('\n').length}`, language, attribute, code };
    },
  );
}

function fileOf({ at, language }: Block): string {
  return join(checkout.path, 'blocks', `${at.replaceAll(/\W/g, '-')}.${language}`);
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}
