import type { Sink } from '../../output.js';

const WIDTH = 30;
const REDRAW_MS = 100;

export interface ProgressBar {
  step(): void;
  /** Removes it from the screen. */
  end(): void;
}

/** Shows progress on a terminal, and nothing elsewhere. */
export function createProgressBar(sink: Sink, total: number, enabled: boolean): ProgressBar {
  if (!enabled || !sink.isTTY) return { step() {}, end() {} };
  let done = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    step() {
      done += 1;
      if (performance.now() - drawn < REDRAW_MS && done < total) return;
      drawn = performance.now();
      const full = Math.floor((done / total) * WIDTH);
      sink.write(`\r\u001b[K${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done} of ${total}`);
    },
    end: () => void sink.write('\r\u001b[K'),
  };
}
