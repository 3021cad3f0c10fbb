import type { Emulator } from '../../../emulator/index.js';

/** Returns whether the delivery is over, or has so many attempts, before `stop` is aborted. */
export async function waitForDelivery(
  { attempts, deliveries }: Emulator,
  id: string,
  count: number,
  stop: AbortSignal,
): Promise<boolean> {
  const isOver = () => {
    const state = deliveries.get(id)?.state;
    return state === 'delivered' || state === 'dead' || attempts.list({ deliveryId: id }).length >= count;
  };
  const iterator = attempts[Symbol.asyncIterator]();
  const stopped = new Promise<{ done: true }>((resolve) => {
    stop.addEventListener('abort', () => resolve({ done: true }));
  });
  try {
    while (!isOver() && !stop.aborted) {
      // Every attempt that ends is a reason to look again.
      const { done } = await Promise.race([iterator.next(), stopped]);
      if (done) break;
    }
  } finally {
    void iterator.return?.();
  }
  return isOver();
}
