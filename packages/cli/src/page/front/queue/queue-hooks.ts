import { usePart } from '../use-part.js';
import { current, type QueueViewState, subscribe } from './queue-store.js';

/** Returns a part of the state of the queue's view, as `usePart` does. */
export function useView<Part>(partOf: (state: QueueViewState) => Part): Part {
  return usePart({ current, subscribe }, partOf);
}
