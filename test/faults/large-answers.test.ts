import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY } from '../client/clients.js';
import type { Task } from '../client/list-process.js';
import { type Api, serveApi, text } from '../client/serve-api.js';
import { buildProgram, type Program } from '../support/processes.js';

let api: Api;
let program: Program;

beforeAll(async () => {
  api = await serveApi();
  program = await buildProgram('test/client/list-process.ts');
});

afterAll(async () => {
  await program.remove();
  await api.close();
});

const MIB = 2 ** 20;

it.each([
  ['arrays in arrays', '['.repeat(5 * MIB) + ']'.repeat(5 * MIB)],
  ['a list of empty objects', `[${'{},'.repeat((10 * MIB) / 3 - 1)}{}]`],
  ['objects in objects', `${'{"":'.repeat(2 * MIB - 1)}0${'}'.repeat(2 * MIB - 1)}`],
])('a client process with a heap of 1 GiB survives an answer of 10 MiB of %s', async (_, answer) => {
  api.replies.push(text(answer));
  const task: Task = { apiKey: KEY, baseUrl: api.url };
  const child = program.start(task, ['--max-old-space-size=1024']);
  expect(await child.next()).toEqual({ endpoints: 0 });
});
