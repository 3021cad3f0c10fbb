import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAYLOAD_VERSION, sign } from 'service-webhooks';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../packages/cli/src/commands.js';
import { type Checkout, createCheckout } from './support/checkout.js';
import { compile, strictOptions } from './support/compile.js';
import { markdownPages, ROOT } from './support/markdown.js';

const RUNNER = fileURLToPath(new URL('support/run-block.mjs', import.meta.url));
const SECRET = 'the secret of the documentation';

/** What the page of Nest uses and the root does not install. `test/package/nest-page.test.ts` compiles with the packages. */
const PACKAGES_OF_NEST = `
  declare function it(title: string, test: () => Promise<void>): void;
  declare module '@nestjs/config' {
    export class ConfigService { getOrThrow<T>(name: string): Exclude<T, undefined>; }
    export class ConfigModule { static forRoot(): { module: typeof ConfigModule }; }
  }
  declare module '@nestjs/testing' {
    interface Builder {
      overrideProvider(token: object): { useValue(value: object): Builder };
      compile(): Promise<{ createNestApplication(options: object): import('@nestjs/common').INestApplication }>;
    }
    export const Test: { createTestingModule(metadata: object): Builder };
  }
`;

/** What SvelteKit, Astro, Next, Prisma and Vercel generate or declare in a project, and the files that blocks import of their page. */
const GENERATED = `
declare module '$app/environment' { export const building: boolean }
declare module '$env/dynamic/private' { export const env: { WEBHOOK_SECRET: string | undefined } }
declare module 'astro:env/server' { export const getSecret: (key: string) => string | undefined }
declare module '*/+server' { export const POST: (event: { request: Request }) => Promise<Response> }
declare module '*/instrumentation-node' {}
declare module '*/mailer.js' { export function sendMail(to: string, text: string): Promise<void> }
declare module '*/webhooks.js' {
  import type { EventOf, Receiver } from 'service-webhooks';
  export const receiver: Receiver;
  export function onClip(event: EventOf<'generation.completed'>): Promise<void>;
}
declare module '@prisma/adapter-pg' { export class PrismaPg { constructor(pool: { connectionString: string }) } }
declare module '*/generated/prisma/client.js' {
  interface Client {
    $queryRawUnsafe(query: string): PromiseLike<unknown>;
    clip: { create(row: { data: { id: string; url: string } }): Promise<object> };
  }
  export class PrismaClient {
    constructor(options: { adapter: object });
    $queryRawUnsafe(query: string): PromiseLike<unknown>;
    $transaction<T>(work: (tx: Client) => Promise<T>): Promise<T>;
  }
}
declare module 'next/server' { export function after(work: Promise<unknown>): void }
declare module '@vercel/functions' { export function waitUntil(work: Promise<unknown>): void }
declare namespace NodeJS { interface ProcessEnv { readonly NEXT_RUNTIME?: 'nodejs' | 'edge' } }
`;

interface Block {
  /** `README.md:12` */
  at: string;
  language: string;
  /** What stands behind the language. `no-run`: it needs what not every machine has. Not in the README. */
  attribute: string | undefined;
  code: string;
}

const pages = [...markdownPages(), 'skills/service-webhooks/SKILL.md'];
const blocks = pages.flatMap(blocksOf);
// `typescript`: for a platform or a framework that is not on every machine. It is compiled, and not run.
const programs = blocks.filter(
  ({ language, attribute }) =>
    ['ts', 'typescript'].includes(language) || (language === 'js' && attribute === undefined),
);
const ofWorkers = ({ code }: Block) => code.includes("'cloudflare:workers'");
const inReadme = (language: string) => blocksOf('README.md').filter((block) => block.language === language);

let checkout: Checkout;
let demo: ReturnType<Checkout['run']>;
beforeAll(async () => {
  checkout = createCheckout();
  demo = checkout.run('demo'); // builds the package, and the blocks run on that
  mkdirSync(join(checkout.path, 'blocks'));
  for (const block of programs) writeFileSync(fileOf(block), block.code);
});
afterAll(() => checkout.remove());

describe('code blocks of the documentation', () => {
  it('every code block is found, and those of the README are tested', () => {
    for (const page of pages) {
      const fences = read(page).match(/^\s*(?:```|~~~)/gm) ?? [];
      expect(fences, page).toHaveLength(2 * blocksOf(page).length);
    }
    for (const { at, attribute } of blocks) expect([undefined, 'no-run'], at).toContain(attribute);
    for (const { at, language, attribute } of blocksOf('README.md')) {
      expect(['ts', 'sh', 'dotenv', 'text'], at).toContain(language);
      expect(attribute, at).toBeUndefined();
    }
  });

  it('the programs compile in strict TypeScript', () => {
    const texts = (some: Block[]) => some.map((block) => [fileOf(block), block.code] as const);
    const module: [string, string] = [join(checkout.path, 'blocks/app.module.ts'), 'export class AppModule {}'];
    const nest: [string, string] = [join(checkout.path, 'blocks/nest.d.ts'), PACKAGES_OF_NEST];
    const generated: [string, string] = [join(checkout.path, 'blocks/generated.d.ts'), GENERATED];
    const programsOfNode = new Map([...texts(programs.filter((block) => !ofWorkers(block))), module, nest, generated]);
    expect(compile(programsOfNode, strictOptions({ allowJs: true, checkJs: true }))).toEqual([]);
  });

  it('the Workers compile with the types of Cloudflare', () => {
    const workers = programs.filter(ofWorkers);
    expect(workers.length).toBeGreaterThan(3);
    // As `wrangler types` writes it.
    const env = `interface Env { WEBHOOK_SECRET: string; DB: D1Database; DEDUPE: DurableObjectNamespace }`;
    const texts = new Map(workers.map((block) => [fileOf(block), block.code]));
    texts.set(join(checkout.path, 'blocks/worker-configuration.d.ts'), `declare namespace Cloudflare { ${env} }`);
    expect(compile(texts, strictOptions({ types: ['@cloudflare/workers-types'] }))).toEqual([]);
  });

  it.each(programs.filter(({ language, attribute }) => language !== 'typescript' && attribute !== 'no-run'))(
    'the program of $at runs',
    (block) => runAndDeliver(runnable(block)),
  );

  it.each(inReadme('sh'))('the commands that $at shows exist', ({ code }) => {
    const { name, scripts } = JSON.parse(read('package.json'));
    const { name: commandLine } = JSON.parse(read('packages/cli/package.json'));
    const known = [
      ...['npm ci', 'npm test', `npm install ${name} express`, 'node --env-file=.env server.mjs'],
      ...Object.keys(scripts).map((script) => `npm run ${script}`),
      ...COMMANDS.map((command) => `npx ${commandLine} ${command.name}`),
    ];
    for (const command of code.trim().split(/\n| && /)) {
      const [start] = /^npx \S+ \S+|^.*/.exec(command) ?? [];
      expect(known).toContain(start);
    }
  });
});

describe('README.md', () => {
  it('the page has the install command, and the two commands for a clone', () => {
    expect(read('README.md')).toContain(`npm install ${JSON.parse(read('package.json')).name} express\n`);
    expect(read('README.md')).toContain('\n```sh\nnpm ci && npm run demo\nnpm ci && npm test\n```\n');
  });

  it('the page of dev and the contrast with a hand-written check stand above the first step', () => {
    const [start = ''] = read('README.md').split('\n## Start\n');
    expect(start).toContain('](docs/page-light.png)');
    expect(start).toMatch(/hand-written check.*\]\(#compared-with-a-hand-written-check-and-other-libraries\)/);
    expect(read('README.md')).toMatch(/^\| Five copies of an event .* \| runs once \| .* \| runs 5 times \|$/m);
  });

  it('the page has at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('the receiver of the page accepts the delivery of the send command of the page', async () => {
    const [example = expect.fail('no example')] = inReadme('ts');
    const { child, port } = await start(runnable(example));
    try {
      const [command = ''] = /npx service-webhooks-cli send .*/.exec(read('README.md')) ?? [];
      const args = command.replace('3000', String(port)).split(' ').slice(2);
      const program = join(ROOT, 'packages/cli/dist/service-webhooks.cjs');
      const sender = fork(program, args, { env: { ...process.env, WEBHOOK_SECRET: SECRET }, silent: true });
      const [exitCode] = await once(sender, 'close');
      expect(exitCode).toBe(0);
    } finally {
      child.kill();
    }
  });

  it('the demo runs', () => {
    expect(demo.status, demo.stderr).toBe(0);
  });
});

/** A block that starts a server has to accept a delivery and refuse a forgery; any other has to end well and print. */
async function runAndDeliver(file: string): Promise<void> {
  const { child, port, output } = await start(file);
  try {
    if (port === undefined) return expect(output()).toMatch(/\S/);
    const url = `http://127.0.0.1:${port}/webhooks`;
    expect(await deliver(url, SECRET)).toMatchObject({ status: 200, text: expect.not.stringContaining('ignored') });
    expect(await deliver(url, 'a guess')).toMatchObject({ status: 401 });
  } finally {
    child.kill();
  }
}

/** Resolves when the program listens, or when it has ended; then there is no port. */
async function start(file: string) {
  const env = { ...process.env, WEBHOOK_SECRET: SECRET };
  const child = fork(RUNNER, [file], { cwd: checkout.path, env, execArgv: [], silent: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  const started = once(child, 'message').then(([{ port }]) => ({ port: port as number, exitCode: 0 }));
  const ended = once(child, 'close').then(([exitCode]) => ({ port: undefined, exitCode }));
  const { port, exitCode } = await Promise.race([started, ended]);
  expect(exitCode, output).toBe(0);
  return { child, port, output: () => output };
}

/** The file of a block as JavaScript. */
function runnable(block: Block): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const file = `${fileOf(block)}.run.js`;
  writeFileSync(file, ts.transpileModule(block.code, { compilerOptions }).outputText);
  return file;
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
  const headers = { 'content-type': 'application/json', 'x-service-webhook-id': 'wh_1', ...sign({ body, secret }) };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

function blocksOf(page: string): Block[] {
  const text = read(page);
  return [...text.matchAll(/^( *)```(\w+)(?: (.+))?\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: attribute, 4: code = '' }) => ({
      at: `${page}:${text.slice(0, index).split('\n').length}`,
      language,
      attribute,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

function fileOf({ at, language }: Block): string {
  const extension = language === 'typescript' ? 'ts' : language;
  return join(checkout.path, 'blocks', `${at.replaceAll(/\W/g, '-')}.${extension}`);
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}
