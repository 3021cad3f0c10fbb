import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Runtime } from './runtimes.js';

/** Starts what serves the endpoints in a runtime, from a folder of built programs, or another program there. */
export async function startProgram({ program, command = [] }: Runtime, folder: string, script: string = program) {
  const [file = '', ...args] =
    program === 'workerd'
      ? [...command, 'serve', '--control-fd=3', join(folder, `${script}.capnp`)]
      : [...command, join(folder, `${script}.mjs`)];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const port = await portFrom((program === 'workerd' ? child.stdio[3] : child.stdout) as Readable);
  return {
    port,
    stop() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** A program says its port in a line of its own, workerd in a line about each of its sockets. */
async function portFrom(output: Readable): Promise<number> {
  for await (const line of createInterface({ input: output })) {
    const said = JSON.parse(line);
    if (Number.isInteger(said.port ?? said)) return said.port ?? said;
  }
  throw new Error('The program ended without a port.');
}
