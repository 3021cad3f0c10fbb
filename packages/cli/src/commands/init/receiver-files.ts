import { posix } from 'node:path';
import { type AppProject, dependsOn } from '../../detect-project.js';

/** A file that init writes. */
export interface WrittenFile {
  path: string;
  text: string;
}

/** Lines that the user adds to a file of the app, and a sentence that says where. */
export interface Mount {
  says: string;
  lines: readonly string[];
}

const HANDLERS = `{
    'generation.completed': ({ data }) => console.log(data.downloadUrl),
    // Every other event, including types added later.
    '*': (event) => console.log(event.type, event.jobId),
  }`;

const ABOVE_PARSERS = '// Above app.use(express.json()): a body parser would consume the bytes that are signed.';

/** Returns the file of a receiver at `/webhooks`. */
export function receiverFile(project: AppProject): WrittenFile {
  return { path: routePath(project), text: asModule(project, routeOf(project)) };
}

/** Returns a text with the imports and exports of the project's modules. */
export function asModule({ module, typescript }: AppProject, text: string): string {
  if (module === 'esm' || typescript) return text;
  const names = [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const body = text
    .replace(/^import (\w+|\{.*\}) from ('.*');$/gm, 'const $1 = require($2);')
    .replace(/await import\((.*)\)/, 'require($1)')
    .replace(/^export /gm, '');
  return names.length === 0 ? body : `${body}\nmodule.exports = { ${names.join(', ')} };\n`;
}

/** Returns the path of a module as its importers write it. TypeScript for CommonJS and for Next leaves the extension out. */
export function importPath({ framework, module, typescript }: AppProject, from: string, path: string): string {
  const relative = posix.relative(posix.dirname(from), path);
  const isBare = typescript && (module === 'commonjs' || framework === 'next');
  return `${relative.startsWith('.') ? '' : './'}${relative.replace(/\.[jt]s$/, isBare ? '' : '.js')}`;
}

function routePath({ framework, typescript, sources }: AppProject): string {
  const extension = typescript ? 'ts' : 'js';
  if (framework === 'next') return posix.join(sources, `app/webhooks/route.${extension}`);
  const name = framework === 'nest' ? 'webhooks.controller' : 'webhooks';
  return posix.join(sources, `${name}.${extension}`);
}

function routeOf({ framework, typescript }: AppProject): string {
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

${typescript ? 'let receive: ReturnType<typeof webhookHandler> | undefined;' : 'let receive;'}

export function webhooks(${typescript ? 'request: Request, env: { WEBHOOK_SECRET: string }' : 'request, env'}) {
  receive ??= webhookHandler({
    secret: env.WEBHOOK_SECRET,
    on: ${HANDLERS.replaceAll('\n', '\n  ')},
  });
  return receive(request);
}
`;
    case 'nest':
      return `import { Controller, Post, Req, Res } from '@nestjs/common';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/nest';
import type { NestRequest, NestResponse } from 'service-webhooks/nest';

@Controller('webhooks')
export class WebhooksController {
  // A field: Nest creates the controller after ConfigModule has read .env.
  readonly receiver = createReceiver({
    secret: process.env['WEBHOOK_SECRET'] ?? '',
    on: ${HANDLERS.replaceAll('\n', '\n  ')},
  });
  private readonly receive = webhookHandler(this.receiver);

  @Post()
  webhooks(@Req() req: NestRequest, @Res() res: NestResponse) {
    return this.receive(req, res);
  }
}
`;
    default:
      return `import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/${framework}';

const { WEBHOOK_SECRET: secret = '' } = process.env;

export const receiver = createReceiver({
  secret,
  on: ${HANDLERS},
});

export const webhooks = webhookHandler(receiver);
`;
  }
}

/** Returns the lines that mount the receiver in the app; none where the framework finds the file itself. */
export function mountsOf(project: AppProject, route: string, entry: string | undefined): readonly Mount[] {
  const { framework, module, typescript, sources, packageJson } = project;
  const says = `Add these lines to ${entry ?? 'the file that creates your app'}:`;
  const load = (name: string, from = entry ?? posix.join(sources, 'app')) => {
    const path = importPath(project, from, route);
    return module === 'esm' || typescript
      ? `import { ${name} } from '${path}';`
      : `const { ${name} } = require('${path}');`;
  };
  switch (framework) {
    case 'express':
      return [{ says, lines: [load('webhooks'), ABOVE_PARSERS, "app.post('/webhooks', webhooks);"] }];
    case 'hono':
      return [{ says, lines: [load('webhooks'), "app.post('/webhooks', webhooks);"] }];
    case 'fastify':
      return [{ says, lines: [load('webhooks'), "app.register(webhooks, { prefix: '/webhooks' });"] }];
    case 'node': {
      const line = "if (req.url === '/webhooks') return webhooks(req, res);";
      return [{ says, lines: [load('webhooks'), '// First in your (req, res) => { … }.', line] }];
    }
    case 'workers': {
      const lines = dependsOn(packageJson, 'hono')
        ? ["app.post('/webhooks', (c) => webhooks(c.req.raw, c.env));"]
        : [
            '// First in fetch(request, env).',
            "if (new URL(request.url).pathname === '/webhooks') return webhooks(request, env);",
          ];
      return [{ says, lines: [load('webhooks'), ...lines] }];
    }
    case 'nest': {
      const appModule = posix.join(sources, 'app.module.ts');
      const main = entry ?? posix.join(sources, 'main.ts');
      return [
        {
          says: `Add the controller to @Module in ${appModule}:`,
          lines: [
            load('WebhooksController', appModule),
            '// After those that are there.',
            'controllers: [WebhooksController],',
          ],
        },
        { says: `Write these lines in place of NestFactory.create(AppModule) in ${main}:`, lines: nestMain(project) },
      ];
    }
    default:
      return [];
  }
}

/** Nest keeps the bytes of a body that it parses, up to its own limit: 100 kB on Express, 1 MB on Fastify. */
function nestMain({ packageJson }: AppProject): readonly string[] {
  const isOnFastify =
    dependsOn(packageJson, '@nestjs/platform-fastify') && !dependsOn(packageJson, '@nestjs/platform-express');
  return isOnFastify
    ? [
        "import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';",
        '// Nest refuses bodies over 1 MB otherwise.',
        'const adapter = new FastifyAdapter({ bodyLimit: 5 * 1024 * 1024 });',
        'const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, { rawBody: true });',
      ]
    : [
        "import type { NestExpressApplication } from '@nestjs/platform-express';",
        'const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true });',
        '// Nest refuses bodies over 100 kB otherwise.',
        "app.useBodyParser('json', { limit: '5mb' });",
      ];
}
