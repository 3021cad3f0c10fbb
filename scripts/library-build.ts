import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Options } from 'tsup';
import { root, subpathsOf } from './subpaths.js';

/** How the entries of a package are built, for `import` and for `require`. `folder`: of the package, from the root. */
export function libraryBuild(folder: string): Options[] {
  const subpaths = subpathsOf(folder);
  const shared = {
    entry: Object.fromEntries(subpaths.map(({ entry, source }) => [entry, join(root, source)])),
    outDir: join(root, folder, 'dist'),
    target: 'es2022',
    platform: 'neutral',
    splitting: true,
    treeshake: true,
    // Also in the package itself, so that an adapter brings no second copy of the core.
    external: [/^service-webhooks(\/|$)/],
  } satisfies Options;

  /** The types are built once, for `require`. Those for `import` lead there. */
  async function writeTypes() {
    for (const { entry } of subpaths) {
      writeFileSync(join(shared.outDir, `${entry}.d.ts`), `export * from './${basename(entry)}.cjs';\n`);
    }
  }

  return [
    { ...shared, format: 'esm', onSuccess: writeTypes },
    // `paths` of tsconfig.json are relative to the root.
    { ...shared, format: 'cjs', dts: { compilerOptions: { baseUrl: root } } },
  ];
}
