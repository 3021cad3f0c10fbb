import { posix } from 'node:path';
import type { Project } from './detect-project.js';

/** The files that init writes for a project, and the remaining steps. */
export interface ReceiverFiles {
  files: readonly { path: string; text: string }[];
  /** The file of the environment, and the line to add. */
  env: { path: string; line: string };
  /** The lines that mount the receiver in the app; none where the framework finds the file itself. */
  mount: readonly string[];
}

const HANDLERS = `{
    'generation.completed': (event) => console.log('clip', event.data.clipId),
    '*': (event) => console.log(event.type, event.jobId), // every other event, including types added later
  }`;

/** Returns the files of a receiver at `/webhooks`. */
export function receiverFiles(project: Project): ReceiverFiles {
  const { framework, module, typescript } = project;
  const route = { path: routePath(project), text: routeOf(project) };
  const files = [route, testOf(project, route.path)];
  const isCommonJs = module === 'commonjs' && !typescript;
  return {
    files: isCommonJs ? files.map(({ path, text }) => ({ path, text: toCommonJs(text) })) : files,
    env: { path: framework === 'workers' ? '.dev.vars' : '.env', line: 'WEBHOOK_SECRET=' },
    mount: mountOf(project, route.path),
  };
}

function routePath({ framework, typescript, sources }: Project): string {
  const extension = typescript ? 'ts' : 'js';
  if (framework === 'next') return posix.join(sources, `app/webhooks/route.${extension}`);
  const name = framework === 'nest' ? 'webhooks.controller' : 'webhooks';
  return posix.join(sources, `${name}.${extension}`);
}

function routeOf({ framework, typescript }: Project): string {
  switch (framework) {
    case 'next':
      return `import { webhookHandler } from 'service-webhooks/next';

// Read at run time: 'next build' loads this file, and may run without the secret.
const secret = async () => [process.env${typescript ? "['WEBHOOK_SECRET']" : '.WEBHOOK_SECRET'} ?? ''];

export const POST = webhookHandler({
  secret,
  on: ${HANDLERS},
});
`;
    case 'workers':
      return `import { webhookHandler } from 'service-webhooks/fetch';
${typescript ? '\ninterface Env {\n  WEBHOOK_SECRET: string;\n}\n' : ''}
${typescript ? 'let receive: ReturnType<typeof webhookHandler> | undefined;' : 'let receive;'}

export default {
  fetch(${typescript ? 'request: Request, env: Env' : 'request, env'}) {
    if (new URL(request.url).pathname !== '/webhooks') return new Response(null, { status: 404 });
    receive ??= webhookHandler({
      secret: env.WEBHOOK_SECRET,
      on: ${HANDLERS.replaceAll('\n', '\n    ')},
    });
    return receive(request);
  },
};
`;
    default:
      return `import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/${framework}';
${framework === 'nest' ? "import { Controller, Post, Req, Res } from '@nestjs/common';\nimport type { NestRequest, NestResponse } from 'service-webhooks/nest';\n" : ''}
const { WEBHOOK_SECRET: secret = '' } = process.env;

export const receiver = createReceiver({
  secret,
  on: ${HANDLERS},
});
${framework === 'nest' ? CONTROLLER : '\nexport const webhooks = webhookHandler(receiver);\n'}`;
  }
}

const CONTROLLER = `
const receive = webhookHandler(receiver);

@Controller('webhooks')
export class WebhooksController {
  @Post()
  webhooks(@Req() req: NestRequest, @Res() res: NestResponse) {
    return receive(req, res);
  }
}
`;

/** Returns a module with its imports and exports in CommonJS. */
function toCommonJs(text: string): string {
  const names = [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const body = text
    .replace(/^import (\w+|\{.*\}) from ('.*');$/gm, 'const $1 = require($2);')
    .replace(/await import\((.*)\)/, 'require($1)')
    .replace(/^export /gm, '');
  return names.length === 0 ? body : `${body}\nmodule.exports = { ${names.join(', ')} };\n`;
}

/** Returns the lines for the app, by its framework. */
function mountOf({ framework, module, typescript }: Project, path: string): readonly string[] {
  const file = `./${posix.basename(path).replace(/\.ts$/, '.js')}`;
  const load = (name: string) =>
    module === 'esm' || typescript ? `import { ${name} } from '${file}';` : `const { ${name} } = require('${file}');`;
  switch (framework) {
    case 'express':
      return [load('webhooks'), "app.post('/webhooks', webhooks); // above app.use(express.json())"];
    case 'hono':
      return [load('webhooks'), "app.post('/webhooks', webhooks);"];
    case 'fastify':
      return [load('webhooks'), "app.register(webhooks, { prefix: '/webhooks' });"];
    case 'node':
      return [load('webhooks'), "if (req.url === '/webhooks') return webhooks(req, res); // in your request listener"];
    case 'nest':
      return [
        load('WebhooksController'),
        '@Module({ controllers: [WebhooksController] })',
        'NestFactory.create(AppModule, { rawBody: true })',
      ];
    default:
      return [];
  }
}

/** Returns the test of a route: a signed delivery is accepted, and a changed one is refused. */
function testOf(project: Project, route: string): { path: string; text: string } {
  const extension = posix.extname(route);
  const path = posix.join(posix.dirname(route), `${posix.basename(route, extension)}.test${extension}`);
  return { path, text: testTextOf(project, route) };
}

function testTextOf(project: Project, route: string): string {
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
