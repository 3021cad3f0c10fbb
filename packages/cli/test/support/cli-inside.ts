import { once, setMaxListeners } from 'node:events';
import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { SECRET } from '../../../../test/support/deliveries.js';
import { COMMANDS } from '../../src/commands.js';
import { run } from '../../src/run.js';
import type { Cli, CliOptions, RunningCli } from './cli.js';
import { asked, watchCli } from './watch-cli.js';

// Loaded here, so that what stands at the top of a command counts for every test, and not for the first that has it.
// One that cannot be loaded is missed by its tests.
await Promise.allSettled(COMMANDS.map(async ({ load }) => load()));

/** The command line in the process of the tests. */
export function useCli(): Cli {
  let home = '';
  let count = 0;
  let putBack = () => {};
  const cli = {
    cwd: '',
    bin: '',
    run: (args: readonly string[], options?: CliOptions) => cli.start(args, options).ended,
    start: (args: readonly string[], { env, stdin = '' }: CliOptions = {}): RunningCli => {
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const exitCode = run(asked(args), {
        env: { HOME: cli.cwd, WEBHOOK_SECRET: SECRET, ...env },
        stdin: () => Readable.from([Buffer.from(stdin)]),
        stdout: { write: (text) => stdout.write(text) },
        stderr: { write: (text) => stderr.write(text) },
        signal: stop.signal,
        now: Date.now,
      }).then(async (code) => {
        await Promise.all([stdout, stderr].map((stream) => once(stream.end(), 'end')));
        return code;
      });
      const watched = watchCli(stdout, stderr, exitCode);
      onTestFinished(async ({ task }) => {
        stop.abort();
        if (task.result?.state !== 'fail') await watched.ended; // which may never come to its end
      });
      return { ...watched, signal: () => stop.abort(), stopReading: ofProgramsAlone };
    },
    shell: ofProgramsAlone,
  };
  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'cli-'));
    const page = join(home, 'page');
    mkdirSync(page);
    for (const name of ['page.js', 'style.css', 'queue.js', 'queue-style.css', 'jobs.js'])
      writeFileSync(join(page, name), `/* ${name} */`.padEnd(2_000));
    putBack = changeDirectory(() => cli.cwd, page);
  });
  beforeEach(() => {
    count += 1;
    cli.cwd = join(home, `test-${count}`);
    mkdirSync(cli.cwd);
  });
  afterAll(() => {
    putBack();
    rmSync(home, { recursive: true, force: true });
  });
  return cli;
}

function ofProgramsAlone(): never {
  throw new Error('this takes a process of its own: leave the test out where it runs inside');
}

/** Functions of the file system that the program calls, and how many paths they begin with. */
const CALLED = { access: 1, mkdir: 1, open: 1, readFile: 1, readdir: 1, rename: 2, stat: 1, unlink: 1, writeFile: 1 };

/**
 * A worker has no current directory of its own. So relative paths are made absolute on their way to the file system, and
 * the page, which has a URL beside the built program, is where it has been put. Gives what ends that.
 */
function changeDirectory(cwd: () => string, page: string): () => void {
  const at = (path: unknown) => (path instanceof URL ? join(page, basename(path.pathname)) : resolve(cwd(), `${path}`));
  const { createReadStream } = fs;
  const called = Object.entries(CALLED).map(([name, paths]) => {
    const real = Reflect.get(fs.promises, name);
    const wrapped = (...args: unknown[]) => real(...args.slice(0, paths).map(at), ...args.slice(paths));
    return { name, real, wrapped };
  });
  const set = (stream: typeof createReadStream, which: 'real' | 'wrapped') => {
    fs.createReadStream = stream;
    for (const one of called) Reflect.set(fs.promises, one.name, one[which]);
    syncBuiltinESMExports();
  };
  set((path, options) => createReadStream(at(path), options), 'wrapped');
  return () => set(createReadStream, 'real');
}
