/**
 * The greatest |t| of Welch's test between the times of two classes, after dudect (Reparaz, Balasch, Verbauwhede: "Dude,
 * is my code constant time?"): over all samples, over those below each of 100 percentiles, since the slow tail is the
 * machine's, and over the squared distance from the mean.
 */
export function greatestT(times, classes) {
  const sorted = Float64Array.from(times).sort();
  const limits = Array.from(
    { length: 100 },
    (_, i) => sorted[Math.floor(sorted.length * (1 - 0.5 ** ((10 * (i + 1)) / 100)))],
  );
  const means = [0, 1].map((wanted) => {
    const own = times.filter((_, i) => classes[i] === wanted);
    return own.reduce((sum, time) => sum + time, 0) / own.length;
  });
  const distances = times.map((time, i) => (time - means[classes[i]]) ** 2);
  const crops = [Number.POSITIVE_INFINITY, ...limits].map((limit) => welch(times, classes, (i) => times[i] < limit));
  return Math.max(...[...crops, welch(distances, classes, () => true)].map(Math.abs));
}

function welch(values, classes, taken) {
  const count = [0, 0];
  const mean = [0, 0];
  const squares = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (!taken(i)) continue;
    const own = classes[i];
    count[own] += 1;
    const delta = values[i] - mean[own];
    mean[own] += delta / count[own];
    squares[own] += delta * (values[i] - mean[own]);
  }
  // dudect gives no verdict on few samples.
  if (Math.min(...count) < 5_000) return 0;
  const [a, b] = squares.map((sum, own) => sum / (count[own] - 1) / count[own]);
  return a + b === 0 ? 0 : (mean[0] - mean[1]) / Math.sqrt(a + b);
}
