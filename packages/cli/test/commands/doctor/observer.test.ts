import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createObserver, type ObserverOptions } from '../../../src/commands/doctor/observer.js';
import { Failure } from '../../../src/failure.js';

const PATH = String(process.env['PATH']);
const EVENT = { id: 'evt_1', type: 'stt.completed' };
const observer = (command: string, options: Partial<ObserverOptions> = {}) =>
  createObserver(command, {
    ...{ env: { PATH }, timeoutMs: 20_000, signal: new AbortController().signal, hidden: [] },
    ...options,
  });
const countOf = (command: string, options?: Partial<ObserverOptions>) => observer(command, options).count(EVENT);

/** The message of the failure of a command. */
async function failureOf(command: string, options?: Partial<ObserverOptions>): Promise<string> {
  const error = await countOf(command, options).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(Failure);
  expect(error.exitCode).toBe(2);
  expect(error.message).toMatch(/^--observer: the command .+\. The command: /s);
  return error.message;
}

describe('the observer of doctor', () => {
  it.each([
    ['echo 3', 3],
    ['echo "   12  "', 12],
    ['echo 0', 0],
    ['echo a warning >&2; echo 5', 5],
    ['printf "1\\n2\\n" | wc -l', 2],
  ])('the number that %s prints is the count', async (command, count) => {
    expect(await countOf(command)).toBe(count);
  });

  it('the command has the id and the type of the event, and the environment that it is given', async () => {
    expect(await countOf('test "$WEBHOOK_EVENT_ID $WEBHOOK_EVENT_TYPE" = "evt_1 stt.completed" && echo 1')).toBe(1);
    expect(await countOf('echo "$NUMBER"', { env: { PATH, NUMBER: '7' } })).toBe(7);
  });

  it('the command has no stdin', async () => {
    expect(await countOf('cat | wc -c')).toBe(0);
  });

  it.each<[command: string, says: string]>([
    ['no-such-command', 'ended with exit code 127, and printed "'],
    ['exit 3', 'ended with exit code 3, and printed nothing. Run it in this folder'],
    ['echo oh; echo no >&2; exit 1', 'printed "no"'],
    ['kill -9 $$', 'ended with the signal SIGKILL, and printed nothing.'],
    ['echo 0; exit 1', 'add "|| true"'],
    ['true', 'the command printed nothing. It must print one whole number'],
    ['echo hello', 'the command printed "hello". It must print one whole number'],
    ['echo hello >&2', 'the command printed "hello". It must'],
    ['printf "count\\n 3\\n"', 'the command printed "count\n 3". It must'],
    ['echo 1 2', 'the command printed "1 2". It must'],
    ['echo -1', 'the command printed "-1". It must'],
    ['echo 1.5', 'the command printed "1.5". It must'],
    ['echo 1e3', 'the command printed "1e3". It must'],
    ['echo 1234567890123456', 'the command printed "1234567890123456". It must'],
    ['yes', 'the command printed more than 64 KiB, which begin with "y\ny'],
  ])('a command that is no observer is named, with what it printed: %s', async (command, says) => {
    const message = await failureOf(command);
    expect(message).toContain(says);
    expect(message.endsWith(`The command: ${command}`)).toBe(true);
    expect(message.length).toBeLessThan(500);
  });

  it.each([
    ['sleep 600', 'printed nothing'],
    ['echo 3; sleep 600', 'printed "3"'],
    ['sleep 600 & echo 3', 'printed "3"'],
    ['yes >&2', 'printed "y\ny'],
  ])('a command that does not end is ended after the time limit: %s', async (command, says) => {
    const message = await failureOf(command, { timeoutMs: 500 });
    expect(message).toContain(`did not end within 0.5 s, and ${says}`);
  });

  it('what a command has started ends with it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'observer-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const fifo = join(folder, 'fifo');
    // The reader waits for a writer: the process that the command leaves behind. It sees the end when all of them are gone.
    const reader = countOf(`mkfifo ${fifo}; cat ${fifo} | wc -c`);
    await countOf(`until test -p ${fifo}; do :; done; echo 1`);
    expect(existsSync(fifo)).toBe(true);
    await failureOf(`(exec 9>${fifo}; echo begun >&9; sleep 600) & sleep 600`, { timeoutMs: 1_000 });
    expect(await reader).toBeLessThanOrEqual('begun\n'.length);
  });

  it('the abort of the session ends the command', async () => {
    const stop = new AbortController();
    const count = countOf('sleep 600', { signal: stop.signal });
    stop.abort();
    await expect(count).rejects.toBe(stop.signal.reason);
    await expect(countOf('echo 1', { signal: stop.signal })).rejects.toBe(stop.signal.reason);
  });

  it('the message has neither the signing secret nor the password of a URL', async () => {
    const hidden = ['whsec_hidden'];
    const message = await failureOf('echo whsec_hidden postgres://me:pass@host/db', { hidden });
    expect(message).toContain('printed "[secret] postgres://me:[secret]@host/db"');
    expect(message).not.toMatch(/whsec_hidden|pass/);
  });

  it('a flood of the signing secret shows no part of it', async () => {
    const message = await failureOf('yes whsec_hidden_for_twenty_characters', {
      hidden: ['whsec_hidden_for_twenty_characters'],
    });
    expect(message).toContain('which begin with "[secret]');
    expect(message).not.toContain('begin with "whsec');
  });

  it('a long command and a long output are cut', async () => {
    const message = await failureOf(`echo ${'x'.repeat(5_000)}`);
    expect(message).toContain(`printed "${'x'.repeat(160)}…"`);
    expect(message.length).toBeLessThan(500);
  });
});
