/** Measures the time from now on, in milliseconds. The monotonic clock stands still while the machine sleeps. */
export function stopwatch(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}
