import { setMaxListeners } from 'node:events';
import { EXIT, type ExitCode, type Failure, fileFailure } from './failure.js';
import { asFailure, run } from './run.js';

const stop = new AbortController();
setMaxListeners(0, stop.signal); // every running request listens to the signal
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted); // the user does not want to wait
    stop.abort();
  });
}

// The reader of the output has ended, as `head` does: the program ends as on Ctrl+C and cleans up.
let unwritten: Failure | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') unwritten ??= fileFailure('stdout', error);
  stop.abort();
});
process.on('uncaughtException', (error) => {
  process.stderr.write(`service-webhooks: ${asFailure(error).message}\n`);
  process.exit(EXIT.fault);
});

const { env, stdout, stderr } = process;
process.exitCode = EXIT.fault; // where nothing is left to wait for, and the command has not ended
const io = { env, stdout, stderr, stdin: () => process.stdin, signal: stop.signal, now: Date.now };
void run(process.argv.slice(2), io).then((exitCode) => {
  // Open handles, such as a pipe without a writer, must not delay the end.
  stdout.write('', () => setImmediate(end, exitCode)); // an error of the write is reported one turn later
});

function end(exitCode: ExitCode): void {
  if (unwritten) process.stderr.write(`service-webhooks: ${unwritten.message}\n`);
  process.exit(unwritten?.exitCode ?? exitCode);
}
