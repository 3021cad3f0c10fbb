import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { root } from '../../scripts/subpaths.js';
import {
  beside,
  entriesOf,
  filesNamedIn,
  type Manifest,
  makeWorkshop,
  manifest,
  NAMES_BY_IMPORT,
  NAMES_BY_REQUIRE,
  program,
} from './consumer.js';
import type { Tarball } from './pack.js';

const workshop = makeWorkshop({ 'names.mjs': NAMES_BY_IMPORT, 'names.cjs': NAMES_BY_REQUIRE });
const entries = beside.flatMap(entriesOf);

/** Files that a package has besides those that its package.json names: what people read, and what the program loads. */
const UNNAMED: Record<string, string[]> = {
  'service-webhooks-cli': [
    'NOTICE',
    'dist/page/page.js',
    'dist/page/style.css',
    'dist/page/queue.js',
    'dist/page/queue-style.css',
    'dist/page/jobs.js',
    'dist/main.cjs',
  ],
  // The simulation, which is loaded when it is used, and what it shares with the rest.
  'service-webhooks-suites': ['dist/run-seed.js', 'dist/run-seed.cjs', 'dist/chunk.js', 'dist/chunk.cjs'],
};

describe.each(beside)('the tarball of $name', (its) => {
  const { paths } = inject('tarballs')[its.name] as Tarball;

  it('the files are those of package.json, the README and the licence', () => {
    const expected = ['package.json', 'README.md', 'LICENSE', ...filesNamedIn(its), ...(UNNAMED[its.name] ?? [])];
    const withoutHash = paths.map((path) => path.replace(/-[A-Z0-9]{8}(?=\.c?js$)/, ''));
    expect(withoutHash.toSorted()).toEqual([...new Set(expected)].toSorted());
  });

  it('no file names the building machine or a source map', () => {
    const saying = paths.filter((path) => {
      const text = readFileSync(join(workshop.folder, 'node_modules', its.name, path), 'utf8');
      return text.includes(root.replace(/[\\/]$/, '')) || /[#@] sourceMappingURL=/.test(text);
    });
    expect(saying).toEqual([]);
  });
});

describe('the emulator, the suites and the command line', () => {
  it.each(entries)('$name gives import and require the same names', ({ name }) => {
    const names = JSON.parse(workshop.node(['names.mjs', name]));
    expect(names).not.toEqual([]);
    expect(JSON.parse(workshop.node(['names.cjs', name]))).toEqual(names);
  });

  it.each(entries)('$name can be required without the support of Node for ESM in require()', ({ name }) => {
    expect(workshop.node(['--no-experimental-require-module', 'names.cjs', name])).toMatch(/^\["/);
  });

  it.each(['tools.mjs', 'tools.cjs'])('they work together in a program in %s', (file) => {
    workshop.write(file, inFormatOf(file, program('tools.mjs')));
    expect(JSON.parse(workshop.node([file]))).toEqual({
      calls: 2,
      state: 'delivered',
      verdict: 'timestamp_too_old',
      passed: true,
    });
  });
});

const cli = beside.find(({ bin }) => bin !== undefined) as Manifest;
const start = join('node_modules', cli.name, cli.bin?.['service-webhooks'] ?? '');

describe('the command line package', () => {
  it.each(['service-webhooks', cli.name])('npx runs it as %s', (name) => {
    const { status, stdout } = spawnSync('npx', ['--no-install', name, '--version'], {
      cwd: workshop.folder,
      encoding: 'utf8',
      env: { ...process.env, npm_config_offline: 'true' },
      shell: process.platform === 'win32',
    });
    expect({ status, stdout: stdout.trim() }).toEqual({ status: 0, stdout: cli.version });
  });

  it('--version and --help need neither the emulator nor the MCP SDK', () => {
    const without = makeWorkshop({});
    for (const name of ['service-webhooks-emulator', '@modelcontextprotocol']) {
      rmSync(join(without.folder, 'node_modules', name), { recursive: true });
    }
    expect(without.node([start, '--version'])).toBe(`${cli.version}\n`);
    expect(without.node([start, '--help'])).toContain('Usage: service-webhooks');
    expect(without.attempt([start, 'mcp']).status).not.toBe(0);
  });

  it('the error of a missing peer package has its npm install command', () => {
    const without = makeWorkshop({});
    rmSync(join(without.folder, 'node_modules', manifest.name), { recursive: true });
    const { status, output } = without.attempt([start, '--version']);
    expect(output).toMatch(/^service-webhooks: .* npm install service-webhooks\n$/);
    expect(status).toBe(70);
  });

  it.each(['served.mjs', 'served.cjs'])('send, verify and explain work with the receiver of %s', async (file) => {
    const env = { WEBHOOK_SECRET: 'whsec_installed', OTHER_SECRET: 'whsec_other' };
    const run = (...words: string[]) => {
      const { status, output } = workshop.attempt([start, '--json', ...words], env);
      return { exit: status, ...JSON.parse(output) };
    };
    workshop.write(file, inFormatOf(file, program('served.mjs')));
    const receiver = spawn(process.execPath, [file], { cwd: workshop.folder, env: { ...process.env, ...env } });
    const ended = once(receiver, 'exit');
    const [port] = await Promise.race([once(receiver.stdout, 'data'), ended]);
    try {
      const url = `http://127.0.0.1:${Number(port)}/webhooks`;
      const sent = run('send', 'stt.completed', url);
      expect(sent).toMatchObject({ exit: 0, acknowledged: true, type: 'stt.completed', url });
      expect(run('verify', 'delivery.http')).toMatchObject({ exit: 0, kind: 'verified', id: sent.id });
      const explained = [
        'explain',
        'delivery.http',
        '--secret',
        'env:OTHER_SECRET',
        '--other',
        'app=env:WEBHOOK_SECRET',
      ];
      expect(run(...explained)).toMatchObject({
        exit: 1,
        verdict: 'signature_mismatch',
        causes: [{ cause: 'secret_of_other_endpoint', certainty: 'certain' }],
      });
    } finally {
      receiver.stdin.end();
      await ended;
    }
  });

  it('an MCP client can connect to its mcp command', () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { stdout } = spawnSync(process.execPath, [start, 'mcp'], {
      cwd: workshop.folder,
      encoding: 'utf8',
      input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
      env: { PATH: process.env['PATH'], WEBHOOK_SECRET: 'whsec_installed' },
    });
    expect(JSON.parse(stdout).result.serverInfo).toMatchObject({ name: 'service-webhooks', version: cli.version });
  });
});

/** The text of an ES module in the format that a file's name says. */
function inFormatOf(file: string, text: string): string {
  if (file.endsWith('.mjs')) return text;
  return text.replace(/^import (\{.+\}) from ('.+');$/gm, 'const $1 = require($2);');
}
