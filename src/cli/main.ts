#!/usr/bin/env node
import { setMaxListeners } from 'node:events';
import { EXIT, type Failure, fileFailure } from './failure.js';
import { asFailure, run } from './run.js';

const stop = new AbortController();
setMaxListeners(0, stop.signal); // every request that is under way listens to it
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted); // asked twice
    stop.abort();
  });
}

// Whoever read our output has gone, as `head` does: an end like Ctrl+C, that leaves nothing behind.
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
const exitCode = await run(process.argv.slice(2), {
  env,
  stdout,
  stderr,
  stdin: () => process.stdin,
  signal: stop.signal,
  now: Date.now,
});
// Whatever is still open, such as a pipe that nobody writes to, is not waited for.
process.stdout.write('', () => setImmediate(end)); // what went wrong with it is told a turn later

function end(): void {
  if (unwritten) process.stderr.write(`service-webhooks: ${unwritten.message}\n`);
  process.exit(unwritten?.exitCode ?? exitCode);
}
