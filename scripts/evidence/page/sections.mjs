/**
 * What the page shows, in this order, by the name of the result. `body` makes text of the figures; `wanted` says what a
 * run was short of, though it passed; `reason` is what a profile says of goals that are missed.
 */
export const SECTIONS = {
  verify: {
    title: 'A verification',
    command: 'npm run bench -- verify',
    intro: `\`verifySignature\` beside the least that anybody could do, an HMAC with a prepared key and \`timingSafeEqual\`;
\`verify\` beside the same and \`JSON.parse\`; other libraries beside whichever they resemble. Each gets a signature made
for it. A lower ratio is faster, 1 is the limit.`,
    reason: `The limit compares with a MAC that was made before and reads no header. "By the rules" is written out by
hand in the fewest steps that still verify: it finds one spelling of the name, takes one form of the header, asks the
clock, compares in constant time, decodes strict UTF-8 and checks the envelope. \`verifySignature\` and \`verify\` also
take any spelling of the names, a header that came twice, several signatures and secrets, and options; up to 16 KiB they
make up for it by an HMAC of two calls of \`crypto.hash\`, which cost less than an Hmac object. How far anything that
parses could be ahead of \`constructEvent\`, its row beside the limit shows.`,
  },
  served: {
    title: 'A served delivery',
    command: 'npm run bench -- served',
    intro: `A delivery of 1 KiB, each time a new event, over 32 kept-alive connections to a server in another process.
"Bare" reads the body and parses it; "ceiling" also computes the bare HMAC and compares. A ratio of requests is that of
requests in a second; one of processor time is that of the server process, turned round, so that in both a higher ratio
is better. Measured in eight rounds with new processes, since what a process is lucky in, it is in each of its turns; and
by a sender that never sleeps, since to wake it would cost those servers 8 us a request that are slower than it.`,
    reason: `"Verify alone" reads as the ceiling does and calls \`verify\`. The rows below it are written by hand, each
in the fewest steps, to show what is there to be reached. "Time limits": one timer for the body, one for a handler that
does nothing. "Every duty": also a cap, bodies that break off or that somebody else has read, handlers that throw or do
not end, and one answer for each; it does what \`dedupe: false\` does but for what the headers alone decide, observers,
and secrets that are asked for. Behind Express, on Node 20, each request has a shape of its own, so that V8 looks up
every property of it anew: to ask who else has read, kept or answered takes some 3 us there, and half of it in the way
that these rows and the library ask. "A Map" beside time limits: the id and a digest of the body are remembered, and no
more; beside every duty: also an owner, a lease that is renewed, and the digest of the Idempotency-Key, without an end
of the memory. "A store": the same Map as what could as well be a database, which is asked for promises, each within a
limit of time, and for a claim once more. Where such a row misses a goal too, the goal is beyond what was written by
hand; what lies between it and the rows with a goal is what the library adds.`,
  },
  flood: {
    title: 'A flood',
    command: 'npm run bench -- flood',
    intro: `Requests in a second that an Express server refuses, where good deliveries are the measure, and where
\`express.raw()\` with stripe is. Forged: a well-formed header, a wrong signature. Stale: a right one, an hour old. A
higher ratio is better.`,
    reason: `Both go through Express, which is most of the work and the same for both: a route that answers 401 at once and
looks at nothing ("at once") is what a stale one could reach, and one that reads and computes the bare HMAC ("by hand")
what a forged one could.`,
    body: (
      { memory },
      table,
    ) => `Memory of the server while 200 connections send 1 MiB each, as the greatest growth of its
resident memory over what was sent, and the growth that is left after the later waves over the first ones. What only
the body can decide has to be kept until its end. What the header decides is not kept, but the buffers that it came in
are there until they are collected, so that the greatest growth says little and what is left says more.

${table(
  ['what was sent', 'greatest growth, of what was sent', 'growth from wave 2 to the last', 'goal', ''],
  memory.map(({ name, peak, left, goal }) => [
    name,
    peak.toFixed(2),
    left.toFixed(2),
    goal ? `at most ${goal.atMost}` : '',
    goal ? (goal.met ? 'met' : '**missed**') : '',
  ]),
)}`,
  },
  entries: {
    title: 'Import and bundle',
    command: 'npm run bench -- entries',
    intro: `A process that imports an entry and ends, beside one that imports nothing; peers as they are installed. Sizes are
of what a bundler makes of each entry for Node, minified and gzipped, frameworks and clients of databases left out.`,
    body: ({ sizes }, table) =>
      table(
        ['entry', 'kB, gzipped'],
        sizes.map(({ name, gzipped }) => [`\`${name}\``, (gzipped / 1000).toFixed(1)]),
      ),
  },
  mutation: {
    title: 'Mutation testing',
    command: 'npm run test:mutation -- FILE...',
    intro: `Stryker changes the source in one place at a time; a test has to fail. The score is the part of the changes that
one does. Those that no test can notice, since the program still does the same, count as survivors all the same. The
files to measure are named; with none it is those of which at least 95 % is asked. What is not measured anew keeps its
figures, so that the rows may come from different runs.`,
    body: ({ files }, table) => `${table(
      ['file', 'changes', 'noticed', 'score'],
      [
        ...files.map(({ file, mutants, killed, score }) => [`\`${file}\``, mutants, killed, `${score.toFixed(1)} %`]),
        together(files),
      ],
    )}
What survived:

${table(
  ['where', 'change', 'why'],
  files.flatMap(({ file, survivors }) =>
    survivors.map(({ was, becomes, why }) => [`\`${file}\``, `${code(was)} to ${code(becomes)}`, why ?? '**open**']),
  ),
)}`,
    wanted: ({ missing, files }) => {
      const below = files.filter(({ score }) => score < 90).map(({ file }) => file);
      const [unmeasured, low] = [missing, below].map((list) => list.map(code).join(', '));
      return [unmeasured && `not measured: ${unmeasured}`, low && `below 90 % alone: ${low}`]
        .filter(Boolean)
        .join('; ');
    },
  },
  fuzz: {
    title: 'Properties',
    command: 'npm run fuzz',
    intro: `Properties over the grammar, the guard, the store and the pipeline, with generated input: any request in, exactly
one well-formed answer out; \`verify\`, \`verifyAsync\` and each adapter agree; stripe and octokit agree but for what is
named. The ordinary tests run the same properties (\`test/properties\`), with 2,000 inputs each unless a test says
otherwise.`,
    body: ({ runs, properties }) =>
      `${properties.length} properties with ${count(runs)} inputs each:\n\n${properties
        .map(({ name, found }) => `- ${name}${found === 'passed' ? '' : `: **${found}**`}`)
        .join('\n')}\n`,
  },
  'coverage-fuzz': {
    title: 'Fuzzing led by coverage',
    command: 'npm run fuzz:coverage',
    intro: `The header parser and the envelope, beside a second reading of the rules, led by the branches that both take and by
how near their comparisons come. Before that the same search is put to a library with one planted fault at a time, each
of which it has to find from each of several seeds.`,
    body: ({ targets, trials }, table) =>
      table(
        [
          'target',
          'inputs',
          'differences',
          `planted faults found from ${trials} of ${trials} seeds`,
          'by input, at the latest',
        ],
        targets.map(({ target, runs, found, faults }) => [
          target,
          count(runs),
          found === null ? 'none' : '**one**',
          `${faults.filter((fault) => fault.found === trials).length} of ${faults.length}`,
          count(Math.max(...faults.map((fault) => fault.runs))),
        ]),
      ),
    wanted: ({ seconds }) => seconds < 180 && `${seconds} s for each, of 3 minutes`,
  },
  timing: {
    title: 'The time of the compare',
    command: 'npm run test:timing',
    intro: `After dudect: signatures that are wrong from the first digit on against those that are right but for the last one.
A great |t| tells them apart. The controls compare with an early exit and have to be caught.`,
    body: ({ samples, controls, subjects }, table) => `${count(samples)} samples in a run, three runs:

${table(
  ['what', 'greatest |t| in each run'],
  [...controls, ...subjects].map(({ name, t }) => [name, t.join(', ')]),
)}`,
    wanted: ({ samples }) => samples < 300_000 && `${count(samples)} samples, of 300,000`,
  },
  complexity: {
    title: 'Time over size',
    command: 'npm run test:complexity',
    intro: `Headers and bodies made to be slow, over four doublings: 1 is linear. The control is quadratic and has to be seen.
It runs under \`--min-semi-space-size=64 --max-semi-space-size=64\`, and with \`MALLOC_MMAP_THRESHOLD_\` and
\`MALLOC_TRIM_THRESHOLD_\` so high that malloc keeps what is freed: where the young generation fills up, or memory goes
back to the system between calls, the time of \`JSON.parse\` makes a step that is no slope. Bodies go up to 1 MiB, since
above that what it makes of some of them fills even that young generation. What it takes by itself stands beside each.`,
    body: ({ subjects }, table) =>
      table(
        ['what', 'exponent', '`JSON.parse` alone', ''],
        subjects.map(({ name, exponent, alone, good }) => [
          name,
          exponent.toFixed(2),
          alone?.toFixed(2) ?? '',
          good ? '' : '**failed**',
        ]),
      ),
  },
  soak: {
    title: 'Soak',
    command: 'npm run soak',
    intro: `Good deliveries from the emulator, with faults on the way, and hostile ones beside them. Afterwards nothing may be
left: no handle, no rejection that nobody handled, no growth of the heap.`,
    body: ({ seconds, attempts, hostile, handled, heapKiB, left, unhandled, warnings }) => {
      const third = (n) => mean(heapKiB.slice((n * heapKiB.length) / 3, ((n + 1) * heapKiB.length) / 3));
      return `${seconds} s; ${count(attempts)} attempts of the emulator, ${count(hostile)} hostile requests, ${count(handled)} events
handled. The heap of the last third is ${(third(2) / third(1)).toFixed(3)} times that of the middle one. Handles left: ${left.length};
unhandled rejections: ${unhandled.length}; warnings: ${warnings.length}.
`;
    },
    wanted: ({ seconds }) => seconds < 1800 && `${seconds} s, of 30 minutes`,
  },
};

/** The last row of the table: the score of all files together, rounded down as theirs are. */
function together(files) {
  const [mutants, killed] = [sum(files.map((file) => file.mutants)), sum(files.map((file) => file.killed))];
  return ['together', mutants, killed, `${(Math.floor((1000 * killed) / mutants) / 10).toFixed(1)} %`];
}

const count = (number) => number.toLocaleString('en');
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
const code = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);
