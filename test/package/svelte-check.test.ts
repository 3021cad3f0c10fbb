import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesOf } from '../support/page-files.js';
import { type Consumer, isInstalled, makeConsumer } from './consumer.js';

const SVELTE_CHECK = [
  'node_modules/svelte-check/bin/svelte-check',
  '--tsconfig',
  './tsconfig.json',
  '--output',
  'machine',
];

/** A SvelteKit project in TypeScript, as `sv create` writes it, with these files. */
function makeProject(files: [path: string, code: string][]): Consumer {
  const project = makeConsumer(
    {
      'package.json': '{ "private": true, "type": "module" }',
      'svelte.config.js': 'export default {};\n',
      'tsconfig.json': JSON.stringify({
        extends: './.svelte-kit/tsconfig.json',
        compilerOptions: {
          allowJs: true,
          checkJs: true,
          skipLibCheck: true,
          strict: true,
          moduleResolution: 'bundler',
        },
      }),
    },
    'sveltekit',
  );
  const page = '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>';
  const basics = [
    ['src/app.html', page],
    ['src/routes/+page.svelte', '<h1>A page</h1>\n'],
  ] as const;
  for (const [path, code] of [...basics, ...files]) {
    mkdirSync(dirname(join(project.folder, path)), { recursive: true });
    writeFileSync(join(project.folder, path), code);
  }
  project.node(['node_modules/@sveltejs/kit/svelte-kit.js', 'sync']);
  return project;
}

describe.skipIf(!isInstalled('sveltekit'))('svelte-check', () => {
  // The form of a middleware has the path of the endpoint, and a folder of its own here.
  const code = filesOf('sveltekit').filter(([path]) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  const files = code.map(([path, text], i): [string, string] => {
    return [i > 0 && path.includes('/webhooks/') ? path.replace('webhooks', 'middleware') : path, text];
  });

  it('the code of the page has no error in a SvelteKit project', () => {
    expect(files.map(([path]) => path)).toEqual([
      'src/routes/webhooks/+server.ts',
      'src/hooks.server.ts',
      'src/routes/middleware/+server.ts',
    ]);
    const { status, output } = makeProject(files).attempt(SVELTE_CHECK);
    expect(output).toMatch(/COMPLETED \d+ FILES 0 ERRORS 0 WARNINGS/);
    expect(status).toBe(0);
  });

  it('a field that an event does not have is an error', () => {
    const wrong = files.map(([path, code]): [string, string] => [path, code.replace('event.jobId', 'event.jobID')]);
    const { status, output } = makeProject(wrong).attempt(SVELTE_CHECK);
    expect(output).toContain("Property 'jobID' does not exist");
    expect(status).toBe(1);
  });
});
