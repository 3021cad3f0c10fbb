import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from './integration/program.js';
import { type Checkout, createCheckout } from './support/checkout.js';

let checkout: Checkout;
let demo: ReturnType<Checkout['run']>;
beforeAll(() => {
  checkout = createCheckout();
  demo = checkout.run('demo');
});
afterAll(() => checkout.remove());

describe('npm run demo, in a fresh clone', () => {
  it('the demo exits with 0 and prints how many rows are as expected', () => {
    expect(demo).toMatchObject({ status: 0, stdout: expect.stringMatching(/\n30 of 30 as expected\.\n$/) });
  });

  it('each row shows the delivery, the answer, whether the handler ran, and why', () => {
    const rows = demo.stdout.split('\n').filter((line) => line.startsWith('✓ '));
    const cells = rows.map((row) => row.slice(2).split(/ {2,}/));
    expect(cells.map(([sent, answer, handler]) => [sent, answer, handler])).toEqual([
      ...WEBHOOK_EVENT_TYPES.map((type) => [type, '200 handled', 'ran']),
      ['an event', '200 handled', 'ran'],
      ['the same event, 30 s later', '200 duplicate', 'not run'],
      ['one byte of the body changed', '401 signature_mismatch', 'not run'],
      ['signed with a guessed secret', '401 signature_mismatch', 'not run'],
      ['signed 300 s ago', '200 handled', 'ran'],
      ['signed 301 s ago', '401 timestamp_too_old', 'not run'],
      ['signed 300 s in the future', '200 handled', 'ran'],
      ['signed 301 s in the future', '401 timestamp_in_future', 'not run'],
      ['only the legacy header', '401 legacy_not_accepted', 'not run'],
      ["the same, to legacy: 'accept'", '200 handled', 'ran'],
      ['a broken V2 beside a good legacy one', '401 malformed_signature', 'not run'],
      ['an app with express.json() first', '500 body_already_parsed', 'not run'],
      ['an event whose handler throws', '500 handler_failed', 'ran'],
      ['its retry, 30 s later', '200 handled', 'ran'],
    ]);
    for (const [, , , why] of cells) expect(why).toMatch(/\w/);
  });

  it('the output to a pipe is plain text in straight columns', () => {
    const [titles, ...rows] = demo.stdout.split('\n').filter((line) => /^(?:✓| {2}what was sent)/.test(line));
    for (const title of ['what came back', 'handler', 'why']) {
      const column = titles?.indexOf(title) ?? -1;
      for (const row of rows) expect(row.slice(column - 2, column + 1)).toMatch(/^ {2}\S$/);
    }
    expect(demo.stdout).not.toContain('\u001b');
  });

  it('the demo fails and marks the rows when an app accepts everything and handles nothing', () => {
    const acceptAll = "globalThis.fetch = async () => Response.json({ outcome: 'handled' })";
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(acceptAll)}`, 'demo/run.mjs'],
      { cwd: checkout.path, encoding: 'utf8' },
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(/^✗ signed 301 s ago .*\n {2}expected: 401 timestamp_too_old, handler not run$/m);
    expect(stdout.trimEnd()).toMatch(/\n0 of 30 as expected\.$/);
  });
});

describe.runIf(hasProgram('curl'))('npm run demo -- --serve', () => {
  let receiver: ChildProcessWithoutNullStreams;
  let printed = '';
  beforeAll(async () => {
    receiver = spawn(process.execPath, ['demo/run.mjs', '--serve'], { cwd: checkout.path });
    receiver.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const exited = once(receiver, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}: ${printed}`)));
    while (!printed.includes('Made and sent at once')) await Promise.race([once(receiver.stdout, 'data'), exited]);
  });
  afterAll(() => receiver.kill('SIGKILL'));

  const shell = (line = '') => execFileSync('sh', ['-c', line], { encoding: 'utf8' });
  const printedLine = (pattern: RegExp) => pattern.exec(printed)?.[0];

  it('a printed curl line delivers its event once', () => {
    const line = printedLine(/^curl .*x-service-signature-v2.*$/m);
    expect(shell(line)).toContain('{"outcome":"handled"}');
    expect(shell(line)).toContain('{"outcome":"duplicate"}');
    expect(shell(line?.replace('text-to-speech', 'text-to-spooch'))).toContain('"signature_mismatch"');
  });

  it('the printed command delivers a new event each time', () => {
    const line = printedLine(/curl .*\| sh$/m);
    expect(shell(line)).toContain('{"outcome":"handled"}');
    expect(shell(line)).toContain('{"outcome":"handled"}');
  });

  it('Ctrl+C ends the receiver', async () => {
    receiver.kill('SIGINT');
    expect(await once(receiver, 'exit')).toEqual([0, null]);
  });
});
