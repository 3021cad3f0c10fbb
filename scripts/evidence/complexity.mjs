// Time over size, for headers and bodies made to be slow: the slope of the logarithms over four doublings, which is 1
// where twice as much takes twice as long.
import { spawnSync } from 'node:child_process';
import { buildSource } from './build-source.mjs';
import { hostileBodies, hostileElements, hostileHeaders, hostileStreams, manyHeaders } from './hostile.mjs';
import { hostileParsers, hostileViews, PARSERS } from './hostile-parsers.mjs';
import { writeResult } from './write-result.mjs';

// A young generation that a call does not fill, and memory that is not handed back to the system between calls: where
// the one is full and the other begins, the time of JSON.parse makes a step of up to three times, and only there.
const STEADY = ['--min-semi-space-size=64', '--max-semi-space-size=64'];
const KEPT = { MALLOC_MMAP_THRESHOLD_: '1000000000', MALLOC_TRIM_THRESHOLD_: '1000000000000' };
if (!STEADY.every((flag) => process.execArgv.includes(flag))) {
  const env = { ...process.env, ...KEPT };
  process.exit(
    spawnSync(process.execPath, [...STEADY, import.meta.filename, ...process.argv.slice(2)], { stdio: 'inherit', env })
      .status ?? 1,
  );
}

const LIMIT = 1.2;
const load = await buildSource(
  'src/index.ts',
  'src/verify/headers.ts',
  'src/verify/policy.ts',
  'src/verify/signature.ts',
  ...Object.values(PARSERS),
);
const { createReceiver, sign, verify } = await load('src/index.ts');
const { signaturePolicy } = await load('src/verify/policy.ts');
const { readHeaders } = await load('src/verify/headers.ts');
const { readSignature } = await load('src/verify/signature.ts');
const parsers = Object.fromEntries(
  await Promise.all(Object.entries(PARSERS).map(async ([name, path]) => [name, await load(path)])),
);
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = Date.UTC(2026, 6, 11);
const now = () => NOW;
const policy = signaturePolicy({ now });
const receiver = createReceiver({ secret: SECRET, now, dedupe: false, logger: false });

/** Refusals are expected; what counts is how long they take. */
const quietly = (call) => {
  try {
    call();
  } catch (error) {
    if (error instanceof TypeError) throw error; // a mistake here
  }
};

const withHeaders = (headers) => () => quietly(() => readSignature(readHeaders(headers, policy.names), policy));
/** With a time that holds and a signature that does not: read to its end, and every signature in it compared. */
const withGoodTime = (rest) => {
  const headers = { 'x-service-signature-v2': `t=${NOW / 1000},v1=${'0'.repeat(64)},${rest}` };
  return () => quietly(() => verify({ headers, body: '{}', secret: SECRET, now }));
};
/** Legacy, since that looks at the timestamp once more. */
const withBody = (text) => {
  const body = Buffer.from(text, 'latin1');
  const input = {
    headers: sign({ body, secret: SECRET, scheme: 'legacy' }),
    body,
    secret: SECRET,
    now,
    legacy: 'accept',
  };
  return () => quietly(() => verify(input));
};
/** Beside a body: what JSON.parse takes for it by itself. */
const parsed = (text) => {
  const decoded = Buffer.from(text, 'latin1').toString();
  return () => quietly(() => JSON.parse(decoded));
};
const withStream = (chunks) => {
  const headers = sign({ body: Buffer.concat(chunks), secret: SECRET, at: NOW });
  const body = async function* () {
    yield* chunks;
  };
  return () => receiver({ method: 'POST', headers, body: body() });
};
const quadratic = (text) => () => /a+b/.test(text);

const doublings = (from) => [1, 2, 4, 8, 16].map((factor) => from * factor);
const subjects = [
  { name: 'a quadratic regular expression (control)', sizes: doublings(1024), make: (n) => quadratic('a'.repeat(n)) },
  ...named(hostileHeaders, 256, withHeaders),
  ...named(manyHeaders, 32, withHeaders),
  ...named(hostileElements, 64, withGoodTime),
  ...named(hostileBodies, 65_536, withBody, parsed),
  ...named(hostileStreams, 1024, withStream),
  ...named(hostileParsers(parsers), 16_384, (call) => () => quietly(call)),
  ...named(hostileViews(parsers), 1024, (call) => () => quietly(call)),
];

function named(shapes, from, subjectOf, aloneOf) {
  return Object.entries(shapes).map(([name, shape]) => ({
    name,
    sizes: doublings(from),
    make: (n) => subjectOf(shape(n)),
    makeAlone: aloneOf && ((n) => aloneOf(shape(n))),
  }));
}

/** Milliseconds of one call of each: the least of 25 rounds, which take turns, so that a busy machine is so for all. */
async function timesOf(calls) {
  const counts = [];
  for (const call of calls) counts.push(await countFor(call));
  const best = calls.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 25; round++) {
    for (const [i, call] of calls.entries()) best[i] = Math.min(best[i], (await run(call, counts[i])) / counts[i]);
  }
  return best;
}

/** How often a call has to run to take 3 ms. */
async function countFor(call) {
  for (let count = 1; ; count *= 2) if ((await run(call, count)) > 3) return count;
}

async function run(call, count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) await call();
  return performance.now() - start;
}

/** Least squares over the logarithms. */
function slope(sizes, times) {
  const [x, y] = [sizes, times].map((values) => values.map(Math.log2));
  const [meanX, meanY] = [x, y].map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
  const covariance = x.reduce((sum, value, i) => sum + (value - meanX) * (y[i] - meanY), 0);
  return covariance / x.reduce((sum, value) => sum + (value - meanX) ** 2, 0);
}

const exponentOf = (sizes, times) => Math.round(slope(sizes, times) * 100) / 100;
const figures = [];
const only = process.argv[2] ?? ''; // rows whose name has this in it
for (const { name, sizes, make, makeAlone } of subjects.filter(({ name }) => name.includes(only))) {
  const times = await timesOf(sizes.map(make));
  const exponent = exponentOf(sizes, times);
  const alone = makeAlone && exponentOf(sizes, await timesOf(sizes.map(makeAlone)));
  const isControl = name.endsWith('(control)');
  const good = isControl ? exponent > 1.6 : exponent <= LIMIT;
  const largest = { size: sizes.at(-1), ms: Number(times.at(-1).toPrecision(3)) };
  figures.push({ name, exponent, alone, largest, good });
  const beside = alone === undefined ? '' : `(JSON.parse alone ${alone.toFixed(2)})`;
  const verdict = good ? '' : 'FAILED';
  console.log(
    `${name.padEnd(52)} ${exponent.toFixed(2)}  ${largest.ms} ms at ${largest.size}  ${verdict} ${beside}`.trimEnd(),
  );
}

writeResult('complexity', {
  command: 'npm run test:complexity',
  bar: `an exponent of at most ${LIMIT}, and of more than 1.6 for the control`,
  passed: figures.every(({ good }) => good),
  figures: { subjects: figures },
});
