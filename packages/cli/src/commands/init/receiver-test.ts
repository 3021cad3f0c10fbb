import { posix } from 'node:path';
import type { AppProject } from '../../detect-project.js';
import { asModule, importPath, type WrittenFile } from './receiver-files.js';

/** Returns the test of a route: a signed delivery is accepted, and a changed one is refused. */
export function receiverTest(project: AppProject, route: string): WrittenFile {
  const extension = posix.extname(route);
  const path = `${route.slice(0, -extension.length)}.${testKind(project)}${extension}`;
  return { path, text: asModule(project, textOf(project, route, path)) };
}

/** Returns the command that runs a test of the project. */
export function testCommand({ runner, module, typescript, packageJson }: AppProject, path: string): string {
  // Node alone runs no TypeScript, and in a package that says it is CommonJS, no import.
  const needsTsx = typescript || (module === 'esm' && packageJson.type === 'commonjs');
  switch (runner) {
    case 'vitest':
      return `npx vitest run ${path}`;
    case 'jest':
      // Without the option, Jest loads no ES modules.
      return packageJson.type === 'module'
        ? `node --experimental-vm-modules node_modules/jest/bin/jest.js ${path}`
        : `npx jest ${path}`;
    default:
      return `${needsTsx ? 'npx tsx' : 'node'} --test ${path}`;
  }
}

/** The word in the names of test files: the runner of a Nest app finds only `*.spec.ts`, and that of others may too. */
function testKind({ framework, runner, packageJson }: AppProject): 'spec' | 'test' {
  const patterns = runner === 'jest' ? [packageJson.jest?.testRegex ?? packageJson.jest?.testMatch ?? []].flat() : [];
  if (patterns.length === 0) return framework === 'nest' ? 'spec' : 'test';
  return patterns.some((pattern) => pattern.includes('spec') && !pattern.includes('test')) ? 'spec' : 'test';
}

function textOf(project: AppProject, route: string, path: string): string {
  const { framework, runner } = project;
  const kit = `sampleEvent, signDelivery, tamper${usesFetch(project) ? ', toRequest' : ''}`;
  const from = importPath(project, path, route);
  const load = framework === 'nest' ? `import { WebhooksController } from '${from}';\n` : '';
  const delivery = project.typescript ? 'delivery: ReturnType<typeof signDelivery>' : 'delivery';
  return `${ENVIRONMENT[framework === 'next' ? runner : 'node']}${IMPORTS[runner]}import { ${kit} } from 'service-webhooks/testing';
${load}
test('a signed delivery is accepted, and a changed one is refused', async () => {
  const secret = 'test secret';
${setup(project, from)}
  const statusOf = async (${delivery}) => (await ${callOf(project)}).status;
  const delivery = signDelivery({ event: sampleEvent('generation.completed'), secret });
  ${equal(runner, 'await statusOf(tamper.flippedBit(delivery))', 401)}
  ${equal(runner, 'await statusOf(delivery)', 200)}
});
`;
}

/** A Next app often tests its pages in jsdom, which has no Request. */
const ENVIRONMENT: Record<AppProject['runner'], string> = {
  vitest: '// @vitest-environment node\n',
  jest: '/** @jest-environment node */\n',
  node: '',
};

const IMPORTS: Record<AppProject['runner'], string> = {
  vitest: "import { expect, test } from 'vitest';\n",
  jest: '', // test and expect are globals
  node: "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n",
};

const usesFetch = ({ framework }: AppProject) => framework === 'next' || framework === 'workers';

/** The lines that load the route, with the secret of the test in the environment where the route reads it there. */
function setup(project: AppProject, from: string): string {
  const { framework, typescript } = project;
  const variable = typescript ? "process.env['WEBHOOK_SECRET']" : 'process.env.WEBHOOK_SECRET';
  const name = framework === 'next' ? 'POST' : framework === 'workers' ? 'webhooks' : 'receiver';
  const load = `  const { ${name} } = ${loadLater(project, from)};`;
  if (framework === 'workers') return load;
  if (framework === 'nest') return `  ${variable} = secret;\n  const { receiver } = new WebhooksController();`;
  return `  // Before the route is loaded.\n  ${variable} = secret;\n${load}`;
}

/** TypeScript that Jest runs as CommonJS has no import() of a file without its extension, and Jest finds none with it. */
function loadLater({ runner, module, framework, typescript, packageJson }: AppProject, from: string): string {
  if (runner === 'jest' && typescript && packageJson.type !== 'module') {
    return `require('${from}') as typeof import('${from}')`;
  }
  const isBare = typescript && module === 'commonjs' && framework !== 'next';
  return `await import('${from}${isBare ? '.js' : ''}')`;
}

function callOf({ framework }: AppProject): string {
  const request = "toRequest(delivery, 'http://test/webhooks')";
  if (framework === 'next') return `POST(${request})`;
  return framework === 'workers' ? `webhooks(${request}, { WEBHOOK_SECRET: secret })` : 'receiver(delivery)';
}

function equal(runner: AppProject['runner'], actual: string, expected: number): string {
  return runner === 'node' ? `assert.equal(${actual}, ${expected});` : `expect(${actual}).toBe(${expected});`;
}
