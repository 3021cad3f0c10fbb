/** An app as the documentation of its framework begins one. */
export interface Starter {
  /** The folder of the repository whose packages the app finds. */
  host: string;
  packageJson: object;
  files: Readonly<Record<string, string>>;
  /** The line of the app below which the receiver is mounted. */
  mountBelow?: string;
}

const npmInit = {
  name: 'app',
  version: '1.0.0',
  main: 'index.js',
  scripts: { test: 'echo "Error: no test specified" && exit 1' },
};

const next: Starter = {
  host: 'examples/next',
  packageJson: {
    scripts: { dev: 'next dev', build: 'next build', start: 'next start' },
    dependencies: { next: '16', react: '19', 'react-dom': '19' },
  },
  files: {
    'app/layout.js':
      'export default function RootLayout({ children }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n',
    'app/page.js': 'export default function Page() {\n  return <h1>Hello, Next.js!</h1>;\n}\n',
  },
};

const nestFiles = (extension: string) => ({
  'src/main.ts': `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module${extension}';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
}
bootstrap();
`,
  'src/app.module.ts': `import { Controller, Get, Module } from '@nestjs/common';

@Controller()
export class AppController {
  @Get()
  getHello(): string {
    return 'Hello World!';
  }
}

@Module({
  imports: [],
  controllers: [AppController],
  providers: [],
})
export class AppModule {}
`,
  'nest-cli.json':
    '{ "collection": "@nestjs/schematics", "sourceRoot": "src", "compilerOptions": { "deleteOutDir": true } }',
  'tsconfig.build.json': '{ "extends": "./tsconfig.json", "include": ["src"], "exclude": ["**/*spec.ts"] }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      isolatedModules: true,
      declaration: true,
      emitDecoratorMetadata: true,
      experimentalDecorators: true,
      target: 'ES2023',
      outDir: './dist',
      rootDir: './src',
      skipLibCheck: true,
      strict: true,
      strictPropertyInitialization: false,
      types: ['node'],
    },
  }),
});

const nest: Starter = {
  host: 'test/integration/nest-12',
  packageJson: {
    type: 'module',
    scripts: { start: 'nest start', 'start:dev': 'nest start --watch', test: 'vitest run' },
    dependencies: { '@nestjs/common': '12', '@nestjs/core': '12', '@nestjs/platform-express': '12' },
    devDependencies: { '@nestjs/cli': '12', vitest: '4' },
  },
  files: {
    ...nestFiles('.js'),
    'vitest.config.ts': "export default { test: { globals: true, root: './', include: ['**/*.spec.ts'] } };\n",
  },
};

/** For each framework of init, and Nest in CommonJS as well, as Nest 11 begins an app. */
export const STARTERS: Readonly<Record<string, Starter>> = {
  express: {
    host: 'examples/frameworks',
    packageJson: { ...npmInit, type: 'commonjs', dependencies: { express: '5' } },
    files: {
      'app.js': `const express = require('express')
const app = express()
const port = process.env.PORT ?? 3000

app.use(express.json())

app.get('/', (req, res) => {
  res.send('Hello World!')
})

app.listen(port, () => {
  console.log(\`Example app listening on port \${port}\`)
})
`,
    },
    mountBelow: 'const app = express()',
  },
  hono: {
    host: 'examples/frameworks',
    packageJson: {
      type: 'module',
      scripts: { dev: 'tsx watch src/index.ts', build: 'tsc', start: 'node dist/index.js' },
      dependencies: { '@hono/node-server': '2', hono: '4' },
      devDependencies: { tsx: '4', typescript: '5' },
    },
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "target": "ESNext", "module": "NodeNext", "strict": true, "outDir": "./dist" } }',
      'src/index.ts': `import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()

app.get('/', (c) => {
  return c.text('Hello Hono!')
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) }, (info) => {
  console.log(\`Server is running on http://localhost:\${info.port}\`)
})
`,
    },
    mountBelow: 'const app = new Hono()',
  },
  node: {
    host: 'examples/frameworks',
    packageJson: { ...npmInit, type: 'module' },
    files: {
      'server.js': `import { createServer } from 'node:http';

const server = createServer((req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/plain' });
  res.end('Hello World!\\n');
});

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log('Listening on 127.0.0.1:3000');
});
`,
    },
    mountBelow: 'const server = createServer((req, res) => {',
  },
  fastify: {
    host: 'examples/frameworks',
    packageJson: { ...npmInit, type: 'module', scripts: { start: 'node server.js' }, dependencies: { fastify: '5' } },
    files: {
      'server.js': `import Fastify from 'fastify'
const app = Fastify({
  logger: true
})

app.get('/', async function handler (request, reply) {
  return { hello: 'world' }
})

try {
  await app.listen({ port: process.env.PORT ?? 3000 })
} catch (err) {
  app.log.error(err)
  process.exit(1)
}
`,
    },
    mountBelow: '})',
  },
  nest,
  'nest in CommonJS': {
    ...nest,
    packageJson: { ...nest.packageJson, type: 'commonjs' },
    files: { ...nest.files, ...nestFiles('') },
  },
  next,
  workers: {
    host: 'test/integration/wrangler',
    packageJson: {
      scripts: { deploy: 'wrangler deploy', dev: 'wrangler dev', start: 'wrangler dev' },
      devDependencies: { wrangler: '4' },
    },
    files: {
      'wrangler.jsonc': '{\n  "name": "app",\n  "main": "src/index.js",\n  "compatibility_date": "2026-04-20"\n}\n',
      'src/index.js': `export default {
  async fetch(request, env, ctx) {
    return new Response('Hello World!');
  },
};
`,
    },
    mountBelow: '  async fetch(request, env, ctx) {',
  },
};
