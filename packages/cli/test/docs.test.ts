import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { webhookHandler } from 'service-webhooks/node';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { createEmulator } from 'service-webhooks-emulator';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { serveListener } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { SCENARIOS } from '../src/commands/dev/scenarios.js';
import { PROBES } from '../src/commands/doctor/probes.js';
import { FAULTS } from '../src/commands/send/faults.js';
import { COMMANDS } from '../src/commands.js';
import { ADVICE } from '../src/diagnosis/advice.js';
import { EXIT } from '../src/failure.js';
import { createProgram } from '../src/program.js';
import type { Session } from '../src/session.js';
import { useCli } from './support/cli.js';
import { withoutKeyLine } from './support/key-line.js';

const cli = useCli();
const readPage = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const page = readPage('cli.md');
const commands = COMMANDS.filter(({ hidden }) => !hidden);
const linesOf = (text: string) =>
  [...text.matchAll(/^```sh( no-run)?\n([\s\S]*?)^```$/gm)].flatMap(([, noRun, code = '']) =>
    noRun ? [] : code.trim().split(/(?<!\\|\|)\n/),
  );
const lines = linesOf(page);

/** The page's own section about a command. */
const sectionOf = (name: string) =>
  new RegExp(`^## ${name}\n([\\s\\S]*?)(?=^## )`, 'm').exec(`${page}\n## `)?.[1] ?? '';
const rowsOf = (section: string) =>
  Object.fromEntries([...section.matchAll(/^\| `?(\w[\w-]*)`? \| (.+) \|$/gm)].map(([, name, says]) => [name, says]));

/** The options of a command and of its subcommands, as the program has them. */
async function optionsOf(name: string): Promise<string[]> {
  const program = await createProgram({ env: {} } as Session, [name]);
  const command = program.commands.find((one) => one.name() === name) ?? expect.fail(`no command ${name}`);
  const options = [command, ...command.commands].flatMap((one) => one.options);
  return [...new Set(options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? ''))];
}

/** The options of a command, by the page. */
function writtenIn(name: string): string[] {
  const rows = sectionOf(name)
    .split('\n')
    .filter((line) => line.startsWith('| `--'));
  return rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`(--[\w-]+)`/g)].map(([, option = '']) => option),
  );
}

beforeEach(() => {
  const { headers, body } = signDelivery({ secret: SECRET, event: sampleEvent('stt.completed', { id: 'evt_1' }) });
  const head = Object.entries(headers)
    .map((pair) => pair.join(': '))
    .join('\r\n');
  mkdirSync(join(cli.cwd, '.webhooks'));
  writeFileSync(join(cli.cwd, 'body.json'), body);
  writeFileSync(join(cli.cwd, 'headers.txt'), head);
  writeFileSync(join(cli.cwd, 'secret.txt'), `${SECRET}\n`);
  writeFileSync(join(cli.cwd, 'delivery.http'), `POST /webhooks HTTP/1.1\r\n${head}\r\n\r\n${Buffer.from(body)}`);
  copyFileSync(join(cli.cwd, 'delivery.http'), join(cli.cwd, '.webhooks/20260711T120000.000Z-7f3a9c01.http'));
});

/** Runs a line of a page next to an app, with a secret, an account and a capture. */
async function expectToWork(line: string): Promise<void> {
  const { port } = await serveListener(webhookHandler({ secret: SECRET, on: { '*': () => {} } }));
  const emulator = createEmulator();
  onTestFinished(() => emulator.close());
  const { id } = emulator.endpoints.create({ url: 'https://other.example/webhooks' });
  const env = { SERVICE_API_KEY: emulator.apiKey, SERVICE_URL: (await emulator.listen()).url };
  const command = line.replaceAll('3000', String(port)).replaceAll('wh_1', id);
  const [, running] = /^service-webhooks (listen|dev) /.exec(`${line} `) ?? [];
  if (running !== undefined) {
    const { next, signal, ended } = cli.start([...command.split(' ').slice(1), '--port', '0']);
    await next(running === 'dev' ? 'developing' : 'listening');
    signal('SIGINT');
    return expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
  }
  const { exitCode, stderr } = await cli.shell(command, { env });
  expect(withoutKeyLine(stderr)).toBe('');
  expect(exitCode).toBe(/--fault|--exact|20260711T120000/.test(line) && !/--exact/.test(line) ? 1 : 0);
}

describe('docs/data.md', () => {
  it('the lines work, one after the other', async () => {
    const all = linesOf(readPage('data.md'));
    expect(all.length).toBeGreaterThan(3);
    for (const line of all) await expectToWork(line.replace('npx service-webhooks-cli', 'service-webhooks'));
  });
});

describe('docs/cli.md', () => {
  it.each(lines)('the line works: %s', expectToWork);

  it.each(commands)('a section is about $name', ({ name }) => {
    expect(page).toMatch(new RegExp(`^## .*\\b${name}\\b`, 'm'));
  });

  it.each(commands.filter(({ name }) => sectionOf(name) !== ''))(
    'the section has the options of $name',
    async (one) => {
      expect(writtenIn(one.name).toSorted()).toEqual((await optionsOf(one.name)).toSorted());
    },
  );

  it('the page has every fault, as the program describes it', () => {
    expect(rowsOf(sectionOf('send'))).toMatchObject(
      Object.fromEntries(Object.entries(FAULTS).map(([name, { says }]) => [name, says])),
    );
  });

  it('the page has every scenario, as the program describes it', () => {
    const rows = Object.fromEntries(Object.entries(SCENARIOS).map(([name, { says }]) => [name, says]));
    expect(rowsOf(sectionOf('dev'))).toMatchObject(rows);
  });

  it('the page has every probe, as the program describes it', () => {
    const { probe: _, ...rows } = rowsOf(sectionOf('doctor'));
    expect(rows).toEqual(Object.fromEntries(PROBES.map(({ name, says }) => [name, says])));
  });

  it('the page has every cause of a refusal', () => {
    const { cause: _, ...rows } = rowsOf(sectionOf('Refusals'));
    expect(Object.keys(rows)).toEqual(Object.keys(ADVICE));
  });

  it('the page has every exit code', () => {
    const codes = Object.keys(rowsOf(sectionOf('Exit codes'))).filter((code) => code !== 'code');
    expect(codes.map(Number)).toEqual(Object.values(EXIT));
  });
});
