import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../../../../../test/integration/file-of.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import type { Step } from '../../../src/commands/init/next-steps.js';
import { FRAMEWORKS } from '../../../src/detect-project.js';
import { useCli } from '../../support/cli.js';
import {
  installLibrary,
  isOldNode,
  mount,
  runPrinted,
  startPrinted,
  writeDeclarations,
  writeStarter,
} from './starter-app.js';
import { STARTERS } from './starters.js';

const cli = useCli();
/** The folders whose packages `npm ci` does not install. */
const APART = ['examples/next', 'test/integration/nest-12', 'test/integration/wrangler'];
const isThere = Object.fromEntries(APART.map((host) => [host, isInstalled(host)]));
// Wrangler runs on Node 22 and later.
if (isOldNode && !isInstalled('test/runtimes')) isThere['test/integration/wrangler'] = false;
const starters = Object.entries(STARTERS).filter(([, { host }]) => isThere[host] ?? true);

let declarations: string;
beforeAll(() => {
  declarations = writeDeclarations();
});
afterAll(() => rmSync(declarations, { recursive: true }));

it('each framework of init has a starter', () => {
  expect(Object.keys(STARTERS)).toEqual(expect.arrayContaining([...FRAMEWORKS]));
});

describe('a new app that follows the steps of init', () => {
  it.each(starters)(
    '%s: the test passes, and the app that the printed command starts acknowledges send and passes doctor',
    async (_, starter) => {
      const folder = writeStarter(starter);
      const init = await cli.shell(`cd ${folder} && service-webhooks init --json --yes`);
      expect(init).toMatchObject({ exitCode: 0, stderr: '' });
      const steps = init.records.find(({ kind }) => kind === 'next')?.['steps'] as Step[];
      const lineOf = (wanted: Step['step']) =>
        steps.find(({ step }) => step === wanted)?.lines[0] ?? expect.fail(wanted);

      expect(lineOf('install')).toBe('npm install service-webhooks');
      installLibrary(folder, declarations);
      for (const step of steps) if (step.step === 'mount') mount(folder, step, starter.mountBelow);

      const tested = runPrinted(folder, lineOf('test'));
      expect(tested.status, tested.output).toBe(0);
      expect(tested.output).toMatch(/\bpass 1\b|\b1 passed\b/);

      const { port, output } = await startPrinted(folder, lineOf('start'));
      const run = (step: Step['step']) => {
        const line = lineOf(step)
          .replace(/^npx service-webhooks-cli /, 'service-webhooks ')
          .replace(/ \d+$/, ` ${port}`);
        return cli.shell(`cd ${folder} && ${line} --json`, { env: { WEBHOOK_SECRET: undefined } });
      };
      expect(await run('send')).toMatchObject({ exitCode: 0, records: [{ acknowledged: true }] });
      await vi.waitFor(() => expect(output()).toMatch(/^https:\/\/storage\.example\/clip\.mp3$/m), PATIENTLY);
      const examined = await run('doctor');
      const probes = examined.records.filter(({ kind }) => kind === 'probe');
      expect(
        probes.filter(({ verdict }) => verdict !== 'passed'),
        `${examined.stderr}${output()}`,
      ).toEqual([]);
      expect(probes.length).toBeGreaterThan(30);
    },
  );
});
