#!/usr/bin/env node
import { setMaxListeners } from 'node:events';
import { EXIT } from './failure.js';
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
process.stdout.on('error', () => stop.abort());
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
process.stdout.write('', () => process.exit(exitCode));
