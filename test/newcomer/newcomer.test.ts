import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useCli } from '../../packages/cli/test/support/cli.js';
import { SECRET } from '../support/deliveries.js';
import { refusedMistakes } from './refused-mistakes.js';
import { newcomerDelivery, PRIVATE_DATA, servedMistakes, WEBHOOK_PATH } from './served-mistakes.js';
import { newcomerPrograms, type Programs } from './start-program.js';

const cli = useCli();
let programs: Programs;
/** All that was printed and answered here, and the signatures that would have been valid. */
const seen: string[] = [];
const expectedSignatures: string[] = [];

beforeAll(() => {
  programs = newcomerPrograms();
});

afterAll(() => programs.remove());

const entriesOf = (terminal: string) => terminal.split('\n').filter((line) => line.startsWith('service-webhooks:'));

async function send(port: number, parts?: Parameters<typeof newcomerDelivery>[0]): Promise<string> {
  const { body, headers, expected } = newcomerDelivery(parts);
  expectedSignatures.push(...expected);
  const url = `http://127.0.0.1:${port}${WEBHOOK_PATH}`;
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  seen.push(text, JSON.stringify([...response.headers]));
  const { outcome, error } = JSON.parse(text);
  return `${response.status} ${outcome ?? error.code}`;
}

describe("a beginner's mistake in a receiver that still answers", () => {
  it.each(servedMistakes)(
    'the terminal gets at most one log entry, which names the fix: $name',
    async ({ code, deliveries = [{}], answers, entry }) => {
      const program = await programs.start(code);
      const got: string[] = [];
      if (program.port !== undefined) for (const parts of deliveries) got.push(await send(program.port, parts));
      const terminal = await program.terminal();
      seen.push(terminal);
      expect(got, terminal).toEqual(answers);
      expect(entriesOf(terminal).length, terminal).toBe(entry ? 1 : 0);
      for (const part of entry ?? []) expect(terminal).toMatch(part);
    },
  );

  it('the log warns of the memory store in a worker of a Node cluster', async () => {
    const program = await programs.start(`
      import cluster from 'node:cluster';
      import { webhookHandler } from 'service-webhooks/node';
      if (cluster.isPrimary) cluster.fork();
      else {
        webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: {} });
        process.disconnect();
      }`);
    const terminal = await program.terminal();
    seen.push(terminal);
    expect(entriesOf(terminal)).toEqual([
      expect.stringMatching(
        /cluster of Node runs several processes.*may run a handler twice.*dedupe: \{ store, name \}/,
      ),
    ]);
  });
});

describe("a beginner's mistake that ends the program at its start", () => {
  it.each(refusedMistakes)('the error message names the fix: $name', async ({ code, says }) => {
    const program = await programs.start(code);
    const terminal = await program.terminal();
    seen.push(terminal);
    expect(program.port).toBeUndefined();
    for (const part of says) expect(terminal).toContain(part);
  });
});

describe('the send command for a beginner', () => {
  const receiver = `
    import express from 'express';
    import { webhookHandler } from 'service-webhooks/express';
    const app = express();
    app.post('/webhooks', webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: {} }));
    app.listen(3000);`;

  it('the output names the path to try when the receiver is on another path', async () => {
    const program = await programs.start(receiver);
    const { exitCode, stdout, stderr } = await cli.run(['send', 'stt.completed', `${program.port}/hooks`, '--text']);
    seen.push(stdout, stderr, await program.terminal());
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^404 +not acknowledged/);
    expect(stdout).toContain(`The app at http://localhost:${program.port} has no route for POST /hooks.`);
    expect(stdout).toContain(`as in ${program.port}/webhooks.`);
    expect(stdout).not.toContain('<html');
  });

  it.each(['', '/webhooks'])(
    'a port, followed by "%s", sends to the path of the receiver on this machine',
    async (path) => {
      const program = await programs.start(receiver);
      const address = `${program.port}${path}`;
      const { exitCode, stdout, stderr } = await cli.run(['send', 'stt.completed', address, '--text']);
      seen.push(stdout, stderr, await program.terminal());
      expect(exitCode, stdout + stderr).toBe(0);
      expect(stdout).toMatch(/^200 +acknowledged, no handler ran/);
      expect(await program.terminal()).toContain("No handler for stt.completed: add it or '*' to on.");
    },
  );

  it('a series of deliveries says how many no handler has seen', async () => {
    const program = await programs.start(receiver);
    const { stdout } = await cli.run(['send', 'stt.completed', `${program.port}/webhooks`, '--count', '3', '--text']);
    expect(stdout).toMatch(/200 acknowledged, no handler ran +3 times/);
  });
});

it('the Koa example answers 404 to a path other than its own', async () => {
  const example = readFileSync(new URL('../../examples/frameworks/koa.js', import.meta.url), 'utf8');
  const program = await programs.start(example);
  const { status } = await fetch(`http://127.0.0.1:${program.port}/`);
  expect(status).toBe(404);
  seen.push(await program.terminal());
});

it("no output of the beginner's programs has the secret, a valid signature or text of a body", () => {
  expect(seen.length).toBeGreaterThan(servedMistakes.length + refusedMistakes.length);
  const text = seen.join('\n');
  for (const secret of [SECRET, PRIVATE_DATA, ...expectedSignatures]) expect(text.includes(secret)).toBe(false);
});
