import { posix } from 'node:path';
import type { Project } from './detect-project.js';

/** Returns the test of a route: a signed delivery is accepted, and a changed one is refused. */
export function testOf(project: Project, route: string): { path: string; text: string } {
  const extension = posix.extname(route);
  const path = posix.join(posix.dirname(route), `${posix.basename(route, extension)}.test${extension}`);
  return { path, text: textOf(project, route) };
}

function textOf(project: Project, route: string): string {
  const { framework, runner, typescript } = project;
  const usesFetch = framework === 'next' || framework === 'workers';
  const env = typescript ? "process.env['WEBHOOK_SECRET']" : 'process.env.WEBHOOK_SECRET';
  const file = `./${posix.basename(route).replace(/\.ts$/, '.js')}`;
  const [setup, name, call] = CALLS[framework === 'next' || framework === 'workers' ? framework : 'receiver'];
  const kit = `sampleEvent, signDelivery, tamper${usesFetch ? ', toRequest' : ''}`;
  const delivery = typescript ? 'delivery: ReturnType<typeof signDelivery>' : 'delivery';
  return `${IMPORTS[runner]}import { ${kit} } from 'service-webhooks/testing';

test('a signed delivery is accepted, and a changed one is refused', async () => {
  const secret = 'test secret';
${setup ? `  ${env} = secret; // before the route is loaded\n` : ''}  const { ${name} } = await import('${file}');
  const statusOf = async (${delivery}) => (await ${call}).status;
  const delivery = signDelivery({ event: sampleEvent('generation.completed'), secret });
  ${equal(runner, 'await statusOf(tamper.flippedBit(delivery))', 401)}
  ${equal(runner, 'await statusOf(delivery)', 200)}
});
`;
}

const IMPORTS: Record<Project['runner'], string> = {
  vitest: "import { expect, test } from 'vitest';\n",
  jest: '', // test and expect are globals
  node: "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n",
};

/**
 * For each framework: whether the secret comes from the environment of the process, the export of the route, and a call
 * of it.
 */
const CALLS = {
  receiver: [true, 'receiver', 'receiver(delivery)'],
  next: [true, 'POST', "POST(toRequest(delivery, 'http://test/webhooks'))"],
  workers: [
    false,
    'default: worker',
    "worker.fetch(toRequest(delivery, 'http://test/webhooks'), { WEBHOOK_SECRET: secret })",
  ],
} as const;

function equal(runner: Project['runner'], actual: string, expected: number): string {
  return runner === 'node' ? `assert.equal(${actual}, ${expected});` : `expect(${actual}).toBe(${expected});`;
}
