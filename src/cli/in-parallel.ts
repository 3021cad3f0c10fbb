/**
 * Runs a task a number of times, several at once. Rejects with the first rejection, and starts no further task then.
 */
export async function inParallel(
  count: number,
  concurrency: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      await task(next - 1).catch((error) => {
        next = count;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
}
