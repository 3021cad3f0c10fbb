// Stryker over the core, or over the files that are named: changes the source in one place at a time and counts what no
// test notices. A file that is not measured anew keeps its figures.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { writeResult } from './write-result.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/mutation');
const STRYKER = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js');
// The core has to score 95 % or more, everything else 90 %.
const CORE = /^src\/(verify\/|receiver\/|dedupe\/|event\.ts)/;
const wanted = (file) => (CORE.test(file) ? 95 : 90);

const { ImportDeclaration, ExportDeclaration, InterfaceDeclaration, TypeAliasDeclaration } = ts.SyntaxKind;
const NOTHING_TO_CHANGE = [ImportDeclaration, ExportDeclaration, InterfaceDeclaration, TypeAliasDeclaration];

const named = process.argv.slice(2);
const files = named.length > 0 ? named : inSource().filter((file) => CORE.test(file));
// What runs in a browser is measured by itself: its tests take a second each, the quick ones milliseconds.
const inBrowser = files.every((file) => file.startsWith('packages/cli/src/page/front/'));
process.env.TESTS = inBrowser ? 'browser-tests.json' : 'quick-tests.json';

if (!existsSync(STRYKER)) run('npm', ['ci', '--no-audit', '--no-fund'], folder);
run(process.execPath, [STRYKER, 'run', join(folder, 'stryker.config.mjs'), '--mutate', files.join()], root);

const report = read(join(root, '.tmp/mutation/report.json'));
// Stryker goes on without a test file that it cannot load, and what that one tests would seem to be tested by none.
const unloaded = read(join(folder, process.env.TESTS)).filter((test) => !(test in report.testFiles));
if (unloaded.length > 0) throw new Error(`Not loaded: ${unloaded.join(', ')}`);
// What Stryker finds nothing to change in, it does not name.
const measured = files.map((file) => figuresOf(file, report.files[file] ?? { source: '', mutants: [] }));
const kept = before().filter(({ file }) => !measured.some((one) => one.file === file) && existsSync(join(root, file)));
const reasons = readReasons();
const all = [...measured, ...kept].map(explained).sort((a, b) => (a.file < b.file ? -1 : 1));
for (const { file, score, survivors } of all) {
  console.log(`\n${file}: ${score} %`);
  for (const { line, was, becomes, why } of survivors) console.log(`  ${line}: ${was} to ${becomes}: ${why ?? 'OPEN'}`);
}

const survived = all.flatMap(({ file, survivors }) => survivors.map(({ line }) => `${file}:${line}`));
for (const place of reasons.keys()) {
  const isMeasured = measured.some(({ file }) => place.startsWith(`${file}:`));
  if (isMeasured && !survived.includes(place)) console.log(`No survivor at ${place}: remove it from survivors.txt.`);
}

writeResult('mutation', {
  command: 'npm run test:mutation',
  bar: 'at least 95 % in the core, 90 % elsewhere',
  passed: all.every(({ file, score }) => score >= wanted(file)),
  figures: { missing: inSource().filter((path) => !all.some(({ file }) => file === path)), files: all },
});

/** With the reasons of test/mutation/survivors.txt. */
function explained({ survivors, ...figures }) {
  const withWhy = survivors.map((survivor) => {
    const why = reasons.get(`${figures.file}:${survivor.line}`);
    return why === undefined ? survivor : { ...survivor, why };
  });
  return { ...figures, survivors: withWhy };
}

/** Why a survivor is no missing test, by `file:line`. */
function readReasons() {
  const lines = readFileSync(join(folder, 'survivors.txt'), 'utf8').split('\n');
  return new Map(lines.map((line) => /^(\S+:\d+) +(.+)$/.exec(line)?.slice(1)).filter(Boolean));
}

/** Of what does not even compile, and of what is switched off, nothing is counted. */
function figuresOf(file, { source, mutants }) {
  const lines = source.split('\n');
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  const survived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const counted = killed + survived.length;
  const survivors = survived.map(({ location, replacement }) => {
    const { start, end } = location;
    const last = start.line === end.line ? end.column - 1 : undefined;
    const was = short(lines[start.line - 1].slice(start.column - 1, last));
    return { line: start.line, was, becomes: short(replacement) };
  });
  survivors.sort((a, b) => a.line - b.line);
  const score = counted === 0 ? 100 : Math.floor((1000 * killed) / counted) / 10;
  return { file, mutants: counted, killed, score, survivors };
}

/** The files with something to change: not those of types and of what is handed on alone. */
function inSource() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folders = ['.', ...workspaces].map((folder) => join(folder, 'src'));
  const files = folders.flatMap((folder) => {
    const paths = readdirSync(join(root, folder), { recursive: true }).filter((path) => /\.tsx?$/.test(path));
    return paths.map((path) => `${folder}/${path.replaceAll('\\', '/')}`).sort();
  });
  return files.filter((path) => {
    const { statements } = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ESNext);
    return !statements.every(({ kind }) => NOTHING_TO_CHANGE.includes(kind));
  });
}

function short(code) {
  const line = code.replaceAll(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

function before() {
  const path = join(root, 'bench/results/mutation.json');
  return existsSync(path) ? read(path).figures.files : [];
}

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
