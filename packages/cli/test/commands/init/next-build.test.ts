import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { installSources } from '../../../../../test/examples/sources.js';
import { isInstalled } from '../../../../../test/integration/file-of.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { ROOT } from '../../../../../test/support/markdown.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { freePort } from '../../../../../test/support/server-process.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();

/** An app that init has added a receiver to, next to the packages of an example. */
async function appWithReceiver(example: string, packageJson: object): Promise<string> {
  const parent = join(ROOT, 'examples', example, '.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'init-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
  installSources(folder);
  const { exitCode, stderr } = await cli.shell(`cd ${folder} && service-webhooks init --yes`);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return folder;
}

async function expectDoctorToPass(url: string): Promise<void> {
  const { exitCode, stdout } = await cli.run(['doctor', url, '--secret', 'env:WEBHOOK_SECRET', '--text'], {
    env: { WEBHOOK_SECRET: SECRET },
  });
  expect(exitCode, stdout).toBe(0);
}

describe('the receiver of init in its own runtime', () => {
  it.runIf(isInstalled('examples/next'))(
    'the route for Next is built without the secret, and passes doctor',
    async () => {
      const folder = await appWithReceiver('next', { type: 'module', dependencies: { next: '16' } });
      // The packages of this app are in the folder of the example.
      const config = { turbopack: { root: join(ROOT, 'examples/next') } };
      writeFileSync(join(folder, 'next.config.js'), `export default ${JSON.stringify(config)};`);
      // Next would take that of the example, which is above this app.
      writeFileSync(join(folder, 'instrumentation.js'), 'export function register() {}');
      const bin = join(ROOT, 'examples/next/node_modules/next/dist/bin/next');
      const { WEBHOOK_SECRET: _, ...rest } = process.env;
      const env = { ...rest, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;
      const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, env, encoding: 'utf8' });
      expect(built.status, `${built.stdout}${built.stderr}`).toBe(0);

      const port = `${await freePort()}`;
      const args = [bin, 'start', '--port', port, '--hostname', '127.0.0.1'];
      const child = spawn(process.execPath, args, { cwd: folder, env: { ...env, WEBHOOK_SECRET: SECRET } });
      const ended = once(child, 'close');
      onTestFinished(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      const url = `http://127.0.0.1:${port}/webhooks`;
      await vi.waitFor(async () => expect(await fetch(url)).toBeDefined(), PATIENTLY);
      await expectDoctorToPass(url);
    },
  );
});
