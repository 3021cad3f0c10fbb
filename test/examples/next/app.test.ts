import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Health } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../../integration/file-of.js';
import { freePort } from '../../support/server-process.js';
import { aDelivery, SECRET } from '../queues/event.js';
import { installSources } from '../sources.js';

const PATIENTLY = { timeout: 60_000, interval: 50 };
const example = fileURLToPath(new URL('../../../examples/next/', import.meta.url));
const bin = join(example, 'node_modules/next/dist/bin/next');
const installed = isInstalled('examples/next');

describe.runIf(installed)('examples/next, built as its README says, but without the secret', () => {
  let folder: string;
  let child: ChildProcess;
  let port: number;
  const lines: string[] = [];

  beforeAll(async () => {
    folder = copyExample();
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;
    const built = spawnSync(process.execPath, [bin, 'build'], { cwd: folder, env, encoding: 'utf8' });
    expect(built.status, `${built.stdout}${built.stderr}`).toBe(0);
    port = await freePort();
    const args = [bin, 'start', '--port', `${port}`, '--hostname', '127.0.0.1'];
    child = spawn(process.execPath, args, { cwd: folder, env: { ...env, WEBHOOK_SECRET: SECRET } });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    await vi.waitFor(async () => expect(await fetch(`http://127.0.0.1:${port}/`)).toBeDefined(), PATIENTLY);
  }, 240_000);

  afterAll(async () => {
    const ended = child && once(child, 'close');
    child?.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['the App Router', '/webhooks'],
    ['the Pages Router', '/api/webhooks'],
  ])('%s does an event once and refuses a forgery', async (_, path) => {
    const id = `evt_${path}`;
    const post = async (...[body, headers]: ReturnType<typeof aDelivery>) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })).status;
    expect(await post(...aDelivery(id, 'a guess'))).toBe(401);
    expect([await post(...aDelivery(id)), await post(...aDelivery(id))], lines.join('\n')).toEqual([200, 200]);
    await vi.waitFor(() => expect(lines).toContain(`done ${id}`), PATIENTLY);
    expect(lines.filter((line) => line === `done ${id}`)).toHaveLength(1);
  });

  it('does not start without the secret', { timeout: 60_000 }, async () => {
    const args = [bin, 'start', '--port', `${await freePort()}`, '--hostname', '127.0.0.1'];
    const { WEBHOOK_SECRET: _, ...rest } = process.env;
    const env = { ...rest, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: 50_000,
    });
    expect(`${stdout}${stderr}`).toContain('WEBHOOK_SECRET is not set in this environment.');
    expect(status).toBe(1);
  });

  it('reports its health', async () => {
    const health = (await (await fetch(`http://127.0.0.1:${port}/webhooks`)).json()) as Health;
    expect(health).toMatchObject({ receivers: 1, lastRefused: { code: 'signature_mismatch' }, refusalsInARow: 0 });
    expect(health.lastAcceptedAt).toBeGreaterThan(0);
  });

  it('does what may wait behind the answer', async () => {
    await vi.waitFor(() => expect(lines).toContain('reported evt_/webhooks'), PATIENTLY);
  });
});

/** The example in a folder of its own, where its packages are found, with the sources for the library. */
function copyExample(): string {
  mkdirSync(join(example, '.tmp'), { recursive: true });
  const folder = mkdtempSync(join(example, '.tmp', 'app-'));
  for (const name of ['app', 'pages', 'instrumentation.js', 'next.config.js', 'package.json']) {
    cpSync(join(example, name), join(folder, name), { recursive: true });
  }
  installSources(folder);
  return folder;
}
