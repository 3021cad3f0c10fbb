import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ROOT } from '../support/markdown.js';
import { PATIENTLY } from '../support/patiently.js';
import { type Consumer, isInstalled, makeWorkshop, OPTIONS_OF_NEST } from './consumer.js';

const page = readFileSync(`${ROOT}docs/quickstart/nest.md`, 'utf8');
const [, send = '', doctor = ''] = /^(npx service-webhooks-cli send .*)\n(.* doctor .*)$/m.exec(page) ?? [];
const [, shown = expect.fail('the page does not say what the app prints')] = /^```text\n(.*?)^```$/ms.exec(page) ?? [];
const [module = '', main = '', , , test = ''] = [...page.matchAll(/^```typescript\n(.*?)^```$/gms)].map(
  ([, code]) => code,
);

/** An app as a new one of each version is: CommonJS and Jest, or modules, where `node --test` has the part of Vitest. */
const APPS = {
  'nest-11': {
    packageJson: '{ "private": true }',
    written: (code: string) => code.replaceAll("from './app.module.js'", "from './app.module'"), // as the page says
    test: ['node_modules/jest/bin/jest.js', '--watchman=false', 'webhooks.spec.js'],
    passed: /Tests: +1 passed, 1 total/,
  },
  'nest-12': {
    packageJson: '{ "private": true, "type": "module" }',
    written: (code: string) => code,
    test: ['--import', './globals.mjs', 'webhooks.spec.js'],
    passed: /pass 1\n/,
  },
};

describe.each(['nest-11', 'nest-12'] as const)('the app of the page in %s', (nest) => {
  const app = APPS[nest];
  const present = isInstalled(nest) && isInstalled('consumers');
  let consumer: Consumer;
  /** Runs a line of the page in the folder of the app, and returns what it prints. Rejects where it fails. */
  const run = async (line: string, port: number) => {
    const env = { PATH: process.env['PATH'] };
    const { stdout } = await promisify(execFile)('sh', ['-c', line.replace('3000', `${port}`)], {
      cwd: consumer.folder,
      env,
    });
    return stdout;
  };
  beforeAll(() => {
    if (!present) return;
    consumer = makeWorkshop(
      {
        'package.json': app.packageJson,
        'tsconfig.json': JSON.stringify({ compilerOptions: OPTIONS_OF_NEST, include: ['*.ts'] }),
        'app.module.ts': module,
        'main.ts': app.written(main),
        'webhooks.spec.ts': app.written(test),
        'supertest.d.ts': "declare module 'supertest';",
        'globals.d.ts': 'declare function it(title: string, test: () => Promise<void>): void;',
        'globals.mjs': "import { it } from 'node:test'; globalThis.it = it;",
      },
      nest,
      'consumers',
    );
    expect(consumer.attempt(['node_modules/typescript5/bin/tsc', '-p', '.'])).toEqual({ status: 0, output: '' });
  }, 300_000);

  it.skipIf(!present)(
    'the app starts with the secret of .env and prints what the page shows, and doctor finds nothing',
    async () => {
      consumer.write('.env', 'WEBHOOK_SECRET=the secret of .env\n');
      const port = await freePort();
      const env = { PATH: process.env['PATH'], PORT: String(port) };
      const child = spawn(process.execPath, ['main.js'], { cwd: consumer.folder, env });
      let output = '';
      child.stderr.on('data', (chunk) => {
        output += chunk;
      });
      const listens = new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk) => {
          output += chunk;
          if (output.includes('successfully started')) resolve();
        });
      });
      try {
        await Promise.race([listens, once(child, 'close')]);
        expect(output).toContain('successfully started');
        // Nest says that it has started before it listens.
        const sent = await vi.waitFor(() => run(send, port), PATIENTLY);
        expect(sent).toContain('200  acknowledged');
        expect(output).not.toContain('_WebhooksModule');
        await vi.waitFor(() => expect(output).toContain(shown), PATIENTLY);
        expect(await run(doctor, port)).toMatch(/^31 passed, 0 failed\n$/m);
      } finally {
        child.kill();
      }
    },
  );

  it.skipIf(!present)('the app does not start without .env, and the error names the variable', () => {
    rmSync(join(consumer.folder, '.env'), { force: true });
    const { status, output } = consumer.attempt(['main.js']);
    expect(status).not.toBe(0);
    expect(output).toContain('WEBHOOK_SECRET');
  });

  it.skipIf(!present)('the test of the page passes', () => {
    const { status, output } = consumer.attempt(app.test);
    expect(status, output).toBe(0);
    expect(output).toMatch(app.passed);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
