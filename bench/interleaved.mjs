// Figures that can be compared: the contenders take turns in one run, so that whatever else the machine does meets all
// of them alike, and a figure is the ratio of two of them in the same turn.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/**
 * Microseconds per call of each contender, a list with one entry for each turn.
 *
 * @param contenders name to function; one that gives a promise is awaited
 */
export async function interleaved(contenders, { turns = 31, turnMs = 8 } = {}) {
  const names = Object.keys(contenders);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  const counts = {};
  for (const name of names) counts[name] = await calibrate(contenders[name], turnMs);
  for (let turn = 0; turn < turns; turn += 1) {
    const order = turn % 2 ? names : names.toReversed();
    for (const name of order) times[name].push(await measure(contenders[name], counts[name]));
  }
  return times;
}

/** Of `a / b` turn by turn: the median, and the middle half. */
export function ratio(a, b) {
  const ratios = a.map((time, turn) => time / b[turn]).sort((x, y) => x - y);
  const [low, median, high] = [0.25, 0.5, 0.75].map((part) => ratios[Math.floor(ratios.length * part)]);
  return { low, median, high };
}

export function median(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1];
}

async function calibrate(call, turnMs) {
  await measure(call, 200); // warm
  const once = await measure(call, 200);
  const count = Math.max(5, Math.round((turnMs * 1000) / once));
  await measure(call, count * 3);
  return count;
}

async function measure(call, count) {
  collect({ type: 'minor' }); // so that nobody pays for what the one before has left
  const start = process.hrtime.bigint();
  const first = call();
  if (first instanceof Promise) {
    await first;
    for (let i = 1; i < count; i += 1) await call();
  } else for (let i = 1; i < count; i += 1) call();
  return Number(process.hrtime.bigint() - start) / 1000 / count;
}
