// The public API as one file for each entry of the packages, so that no change of it goes unseen in a review.
// Says where api/ is not what was built last; with --write, makes it so.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { manifestOf, PACKAGES, root } from './packages.mjs';

const kept = join(root, 'api');
const work = mkdtempSync(join(tmpdir(), 'api-'));
const fresh = join(work, 'api');

const compilerOptions = {
  target: 'ES2022',
  module: 'ESNext',
  // Knows no `exports`, so that an adapter's import of the core stays an import and is not copied into its report.
  moduleResolution: 'node10',
  ignoreDeprecations: '6.0',
  types: [],
  skipLibCheck: true,
};

try {
  mkdirSync(fresh);
  writeReports();
  if (process.argv.includes('--write')) {
    rmSync(kept, { recursive: true, force: true });
    cpSync(fresh, kept, { recursive: true });
  } else if (spawnSync('git', ['diff', '--no-index', '--exit-code', kept, fresh], { stdio: 'inherit' }).status !== 0) {
    console.error('\nThe public API is not the one in api/. If that is meant: npm run api, and commit it.');
    process.exitCode = 1;
  }
} finally {
  rmSync(work, { recursive: true });
}

function writeReports() {
  for (const folder of PACKAGES) {
    const { name, exports } = manifestOf(folder);
    const entries = Object.entries(exports).filter(([, target]) => target.require);
    const declarations = entries.map(([, { require }]) => join(root, folder, require.replace(/\.cjs$/, '.d.cts')));
    const configs = entries.map(([subpath], i) =>
      prepare(folder, `${name}${subpath.slice(1)}`, declarations[i], declarations),
    );
    const compilerState = CompilerState.create(configs[0], { additionalEntryPoints: declarations });
    for (const config of configs) {
      const { succeeded } = Extractor.invoke(config, { compilerState, localBuild: true, messageCallback: onlyErrors });
      if (!succeeded) throw new Error(`no report of ${config.mainEntryPointFilePath}`);
    }
  }
}

function prepare(folder, name, entry, files) {
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(root, folder, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: join(root, folder),
      mainEntryPointFilePath: entry,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions, files } },
      apiReport: {
        enabled: true,
        reportFileName: name.replaceAll('/', '-'),
        reportFolder: fresh,
        reportTempFolder: work,
      },
    },
  });
}

function onlyErrors(message) {
  message.handled = message.logLevel !== 'error';
}
