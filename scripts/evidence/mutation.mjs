// Stryker over the core, or over the rooms and files that are named: changes the source in one place at a time and counts
// what no test notices. The whole report is in .tmp/mutation; the figures of each room whose every file was measured go to
// bench/results.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { PACKAGES } from '../packages.mjs';
import { figuresOf, readReasons, roomOf, scoreOf, summaryOf } from './mutants.mjs';
import { writeResult } from './write-result.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/mutation');
const STRYKER = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
// The core has to score 95 % or more, everything else 90 %.
const CORE = ['src', 'src/dedupe', 'src/receiver', 'src/verify'];
const wanted = (room) => (CORE.includes(room) ? 95 : 90);

const { ImportDeclaration, ExportDeclaration, InterfaceDeclaration, TypeAliasDeclaration } = ts.SyntaxKind;
const NOTHING_TO_CHANGE = [ImportDeclaration, ExportDeclaration, InterfaceDeclaration, TypeAliasDeclaration];

const sources = inSource();
const named = process.argv.slice(2);
const unknown = named.filter((name) => !sources.some((file) => file === name || roomOf(file) === name));
if (unknown.length > 0) throw new Error(`Neither a room nor a file with something to change: ${unknown.join(', ')}`);
const chosen = named.length > 0 ? named : CORE;
const files = sources.filter((file) => chosen.includes(file) || chosen.includes(roomOf(file)));
// What runs in a browser is measured by itself: its tests take a second each, the quick ones milliseconds.
const inBrowser = files.every((file) => file.startsWith('packages/cli/src/page/front/'));
process.env.TESTS = inBrowser ? 'browser-tests.json' : 'quick-tests.json';

if (!existsSync(STRYKER)) run('npm', ['ci', '--no-audit', '--no-fund'], folder);
run(process.execPath, [STRYKER, 'run', join(folder, 'stryker.config.mjs'), '--mutate', files.join()], root);

const report = read('.tmp/mutation/report.json');
// Stryker goes on without a test file that it cannot load, and what that one tests would seem to be tested by none.
const unloaded = read(`test/mutation/${process.env.TESTS}`).filter((test) => !(test in report.testFiles));
if (unloaded.length > 0) throw new Error(`Not loaded: ${unloaded.join(', ')}`);

const reasons = readReasons(readFileSync(join(folder, 'survivors.txt'), 'utf8'));
// What Stryker finds nothing to change in, it does not name.
const measured = files.map((file) => figuresOf(file, report.files[file] ?? { source: '', mutants: [] }, reasons));
for (const figures of measured) {
  console.log(`\n${figures.file}: ${scoreOf(figures)} %`);
  for (const { line, was, becomes, why } of figures.survivors) {
    console.log(`  ${line}: ${was} to ${becomes}: ${why ?? 'OPEN'}`);
  }
}
const survived = new Set(measured.flatMap(({ survivors }) => survivors.map(({ key }) => key)));
for (const key of reasons.keys()) {
  const isMeasured = files.some((file) => key.startsWith(`${file}: `));
  if (isMeasured && !survived.has(key)) console.log(`No survivor in this line, remove it from survivors.txt: ${key}`);
}

const result = 'bench/results/mutation.json';
const before = existsSync(join(root, result)) ? read(result).figures.rooms : [];
const figures = summaryOf(measured, sources, before, new Date().toISOString().slice(0, 10));
writeResult('mutation', {
  command: 'npm run test:mutation',
  bar: 'at least 95 % in the core, 90 % elsewhere',
  passed: figures.rooms.every(({ room, score }) => score >= wanted(room)),
  figures,
});

/** The files with something to change: not those that have only types and exports of other files. */
function inSource() {
  const folders = PACKAGES.map((folder) => join(folder, 'src'));
  const files = folders.flatMap((folder) => {
    const paths = readdirSync(join(root, folder), { recursive: true }).filter((path) => /\.tsx?$/.test(path));
    return paths.map((path) => `${folder}/${path.replaceAll('\\', '/')}`).sort();
  });
  return files.filter((path) => {
    const { statements } = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ESNext);
    return !statements.every(({ kind }) => NOTHING_TO_CHANGE.includes(kind));
  });
}

function read(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
