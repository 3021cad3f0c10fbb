// Whether the time of a comparison tells how much of a signature is right. Class 0: 64 random digits. Class 1: the right
// ones but for the last. Each sample has a body and so a signature of its own: were it always the same one, class 1 would
// be faster wherever a branch depends on a digit, since the processor would know it by heart.
// TIMING_SAMPLES (300 000) for each of three runs.
import { createHmac, createSecretKey, randomBytes, randomInt } from 'node:crypto';
import { buildSource } from './build-source.mjs';
import { greatestT } from './welch.mjs';
import { writeResult } from './write-result.mjs';

const SAMPLES = Number(process.env.TIMING_SAMPLES ?? 300_000);
const RUNS = 3;
const CHUNK = 10_000;
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const KEY = createSecretKey(SECRET, 'utf8');
const NOW = 1_783_771_200_000;

const load = await buildSource('src/verify/hmac.ts', 'src/index.ts');
const onNode = await load('src/verify/hmac.ts');
const { verifySignature } = await load('src/index.ts');
const { getBuiltinModule } = process;
process.getBuiltinModule = undefined;
const onTheWeb = await load('src/verify/hmac.ts', '?web');
process.getBuiltinModule = getBuiltinModule;
if (onTheWeb.hasSyncCrypto || !onNode.hasSyncCrypto) throw new Error('both are the same');

/** A control leaks, and has to be caught. */
const CONTROLS = {
  'an early-exit loop (control)': { over: 100, call: ({ candidate, mac }) => earlyExit(candidate, mac) },
  'HMAC and such a loop (control)': {
    over: 10,
    call({ candidate, body }) {
      const mac = createHmac('sha256', KEY).update('1783771200.').update(body).digest('hex');
      return earlyExit(candidate, mac);
    },
  },
};

const SUBJECTS = {
  timingSafeEqual: ({ candidate, mac }) => onNode.equalMacs(candidate, mac),
  'the loop without node:crypto': ({ candidate, mac }) => onTheWeb.equalMacs(candidate, mac),
  'verifySignature as a whole': ({ headers, body }) => {
    try {
      verifySignature({ headers, body, secret: SECRET, now: () => NOW });
    } catch {
      return false;
    }
    throw new Error('a wrong signature was accepted');
  },
};

function earlyExit(a, b) {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Both classes by the same steps, so that nothing differs but how much is right, not even where it lies in memory. */
function sampleOf(own) {
  const body = randomBytes(32);
  const right = createHmac('sha256', KEY).update('1783771200.').update(body).digest();
  const candidateBytes = Buffer.from([randomBytes(32), right][own]);
  candidateBytes[31] = (candidateBytes[31] & 0xf0) | ((right[31] + 1 + randomInt(15)) & 0x0f);
  const candidate = candidateBytes.toString('hex');
  const headers = { 'x-service-signature-v2': `t=1783771200,v1=${candidate}` };
  return { body, mac: right.toString('hex'), candidate, headers };
}

/** Times in nanoseconds; which class comes next is left to chance. */
function measure(call, samples) {
  const times = new Float64Array(samples);
  const classes = new Uint8Array(samples).map(() => randomInt(2));
  for (let begin = 0; begin < samples; begin += CHUNK) {
    const chunk = Array.from(classes.subarray(begin, begin + CHUNK), sampleOf);
    for (const [i, sample] of chunk.entries()) {
      const start = process.hrtime.bigint();
      call(sample);
      times[begin + i] = Number(process.hrtime.bigint() - start);
    }
  }
  return greatestT(times, classes);
}

/** The greatest |t| of each run. */
function runs(name, call) {
  measure(call, 20_000); // until it is compiled
  const t = Array.from({ length: RUNS }, () => Math.round(measure(call, SAMPLES) * 10) / 10);
  console.log(`${name.padEnd(32)} |t| ${t.join(', ')}`);
  return t;
}

const controls = Object.entries(CONTROLS).map(([name, { over, call }]) => ({ name, over, t: runs(name, call) }));
const subjects = Object.entries(SUBJECTS).map(([name, call]) => ({ name, t: runs(name, call) }));

writeResult('timing', {
  command: 'npm run test:timing',
  bar: 'greatest |t| under 4.5 in two of three runs and under 10 in all; the controls over 100 and 10',
  passed:
    controls.every(({ over, t }) => t.every((value) => value > over)) &&
    subjects.every(({ t }) => t.every((value) => value < 10) && t.filter((value) => value < 4.5).length >= 2),
  figures: { samples: SAMPLES, controls, subjects },
});
