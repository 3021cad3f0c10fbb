import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { inside, useCli } from './support/cli.js';

/** What stands beside each word of a list: arguments, options, commands. */
function rowsOf(help: string): [word: string, says: string][] {
  const [lists = ''] = help.replaceAll(/\n {10,}/g, ' ').split('\nExamples:');
  return [...lists.matchAll(/^ {2}(\S+(?: \S+)*)(.*)$/gm)].map(([, word = '', says = '']) => [word, says.trim()]);
}

const cli = useCli();
const COMMANDS =
  'init listen dev mcp send replay captures queue types doctor sign verify explain endpoints limits migrations completion'.split(
    ' ',
  );
const PARTS = {
  captures: 'list export',
  endpoints: 'list ensure update test rotate delete',
  queue: 'list show retry replay discard stats use ui',
};

describe('help', () => {
  it('--help lists every command and the exit codes, with examples', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['--help']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const rows = new Map(rowsOf(stdout));
    for (const name of COMMANDS) expect(rows.get(name), name).toMatch(/^\w/);
    expect(stdout).toMatch(/^Usage: .+\n\n[A-Z]\w*, \w/);
    expect(stdout).toContain('Examples:');
    expect(stdout).toContain('Exit codes: 0 yes, 1 no');
    expect(stdout).not.toMatch(/^ {2}complete /m);
  });

  it.each(COMMANDS)('%s --help has options and examples, as help %s has', async (name) => {
    const { exitCode, stdout } = await cli.run([name, '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: service-webhooks ${name} .*\\n\\n[A-Z]\\w* \\w`));
    expect(stdout).toContain('Examples:\n  ');
    expect((await cli.run(['help', name])).stdout).toBe(stdout);
  });

  const parts = Object.entries(PARTS).flatMap(([name, all]) => all.split(' ').map((part) => `${name} ${part}`));
  it.each([...COMMANDS, ...parts])('%s --help describes each argument and each option', async (name) => {
    const { stdout } = await cli.run([...name.split(' '), '--help']);
    const rows = rowsOf(stdout);
    for (const [word, says] of rows) expect(says, word).toMatch(/^\w/);
    const [usage = ''] = stdout.split('\n');
    const taken = [...usage.matchAll(/[<[](\w*)[>\]]/g)].map(([, argument]) => argument);
    const listed = rows.map(([word]) => word);
    expect(listed).toEqual(expect.arrayContaining(taken.filter((word) => !/^(options|command)$/.test(word ?? ''))));
  });

  it('an option has its choices, unless there are many, and its default', async () => {
    const of = async (name: string) => Object.fromEntries(rowsOf((await cli.run([name, '--help'])).stdout));
    expect(await of('verify')).toMatchObject({
      '--legacy <policy>': 'what to do with only a legacy header: reject, accept',
      '--tolerance <seconds>': 'largest difference between the signed time and the clock',
      '--header-prefix <prefix>': 'the prefix of the header names (x-service)',
    });
    expect(await of('listen')).toMatchObject({
      '--legacy <policy>': 'what to do with only a legacy header: reject, accept',
    });
    expect(await of('dev')).toMatchObject({ '--speed <times>': expect.stringMatching(/ as in 100x \(1x\)$/) });
    expect(await of('send')).toMatchObject({
      type: 'the event type; may be left out with --body: generation.completed, stt.failed, …; send --help lists all',
      '--attempt <number>': 'which attempt of the delivery it is (1)',
      '--timeout <time>': 'how long to wait for an answer (20s)',
    });
    expect(await of('doctor')).toMatchObject({ '--only <probes>': 'only these probes, with commas' });
  });

  it('send --help lists every event type, and no other help does', async () => {
    const { stdout } = await cli.run(['send', '--help']);
    expect(stdout).toContain(`\nEvent types:\n  ${WEBHOOK_EVENT_TYPES.join('\n  ')}\n`);
    const names = ['listen', 'dev', 'mcp', 'doctor', 'queue list', 'endpoints ensure'];
    for (const name of names) {
      const help = (await cli.run([...name.split(' '), '--help'])).stdout;
      expect(help, name).toMatch(/send\s+--help\s+lists\s+all/);
      expect(help, name).not.toContain('workflow_run.failed');
    }
  });

  it('global options are listed under each command', async () => {
    const { stdout } = await cli.run(['completion', '--help']);
    expect(stdout).toMatch(/^Usage: service-webhooks completion \[options\] <shell>\n/);
    expect(stdout).toContain('\nGlobal Options:\n');
  });

  it('no command prints the help to stderr and exits with 2', async () => {
    const { exitCode, stdout, stderr } = await cli.run([]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toBe((await cli.run(['--help'])).stdout);
  });

  it.each(['--version', '-V', '-v', 'version'])('%s prints the version of the package', async (word) => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    expect(await cli.run([word])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each(parts)('the command help prints what --help does: %s', async (name) => {
    const { exitCode, stdout } = await cli.run(['help', ...name.split(' ')]);
    expect([exitCode, stdout]).toEqual([0, (await cli.run([...name.split(' '), '--help'])).stdout]);
  });

  it.each([
    ['help', '--help'],
    ['help help', '--help'],
    ['help send stt.completed', 'send stt.completed --help'],
  ])('%s prints the same as %s', async (help, option) => {
    const { exitCode, stdout } = await cli.run(help.split(' '));
    expect([exitCode, stdout]).toEqual([0, (await cli.run(option.split(' '))).stdout]);
  });

  it.each([
    ['nope', `unknown command 'nope'. There are: ${COMMANDS.join(', ')}, help.`],
    ['lissen', "unknown command 'lissen'. Did you mean listen?"],
    ['queue lst', "unknown command 'lst'. Did you mean list?"],
    ['queue nope', "unknown command 'nope'. There are: list, show, retry, replay, discard, stats, use, ui, help."],
  ])('the command help refuses an unknown name, and names the nearest command or all: %s', async (names, says) => {
    expect(await cli.run(['help', ...names.split(' ')])).toMatchObject({
      ...{ exitCode: 2, stdout: '', stderr: `service-webhooks: ${says}\n` },
    });
  });
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { exitCode, stdout } = await cli.run(['complete', '--', ...words]);
    expect(exitCode).toBe(0);
    return stdout.split('\n').slice(0, -1);
  };

  it('the shell script completes commands', async () => {
    expect(await complete('s')).toEqual(['send', 'sign']);
    expect(await complete('')).toEqual([...COMMANDS, 'help']);
  });

  it('options of the command and global options are completed', async () => {
    expect(await complete('send', 'stt.completed', '--co')).toEqual(['--count', '--concurrency']);
    expect(await complete('send', '--js')).toEqual(['--json']);
  });

  it('event types, faults, probes and choices are completed', async () => {
    expect(await complete('send', '')).toEqual([...WEBHOOK_EVENT_TYPES]);
    expect(await complete('send', '--attempt', '2', 'stt.')).toEqual(['stt.completed', 'stt.failed']);
    expect(await complete('send', '--fault', 'st')).toEqual(['stale', 'stripped-v2']);
    expect(await complete('doctor', '3000', '--skip', 'large,bur')).toEqual(['large,burst']);
    expect(await complete('verify', '--legacy', '')).toEqual(['reject', 'accept']);
  });

  it('files are left to the shell', async () => {
    expect(await complete('verify', '')).toEqual([]);
    expect(await complete('send', '--body', '')).toEqual([]);
  });

  const inShell = (shell: string, test: string) =>
    spawnSync(shell, [...(shell === 'bash' ? ['--norc'] : []), '-c', test], {
      encoding: 'utf8',
      env: { PATH: `${cli.bin}:${process.env['PATH']}` },
    });

  it.skipIf(inside)('bash completes a type', () => {
    const { stdout, stderr } = inShell(
      'bash',
      `source <(service-webhooks completion bash)
      COMP_WORDS=(service-webhooks send gener); COMP_CWORD=2
      _service_webhooks; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p service-webhooks`,
    );
    expect({ stdout, stderr }).toEqual({
      stdout: 'generation.completed\ngeneration.failed\ncomplete -o default -F _service_webhooks service-webhooks\n',
      stderr: '',
    });
  });

  it.skipIf(inside || !hasProgram('fish'))('fish completes a type', () => {
    const { stdout } = inShell(
      'fish',
      'service-webhooks completion fish | source; complete -C"service-webhooks send gener"',
    );
    expect(stdout).toBe('generation.completed\ngeneration.failed\n');
  });

  it.skipIf(inside || !hasProgram('zsh'))('zsh completes a type', () => {
    const { stdout, stderr } = inShell(
      'zsh',
      `autoload -Uz compinit; compinit -D; source <(service-webhooks completion zsh)
      compadd() { shift; print -l -- "$@" }
      words=(service-webhooks send gener); CURRENT=3
      _service_webhooks`,
    );
    expect({ stdout, stderr }).toEqual({ stdout: 'generation.completed\ngeneration.failed\n', stderr: '' });
  });

  it.each(['bash', 'zsh', 'fish'])('the script for %s asks the program', async (shell) => {
    const { exitCode, stdout } = await cli.run(['completion', shell]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('service-webhooks complete -- ');
  });

  it('an unknown shell is refused', async () => {
    const { exitCode, stderr } = await cli.run(['completion', 'tcsh']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^service-webhooks: .*Allowed choices are bash, zsh, fish\..*\n$/);
  });
});
