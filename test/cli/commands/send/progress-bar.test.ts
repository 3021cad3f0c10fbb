import { describe, expect, it, vi } from 'vitest';
import { createProgressBar } from '../../../../src/cli/commands/send/progress-bar.js';

/** A terminal whose clock stands still until it is moved. */
function aTerminal(isTTY = true) {
  const clock = { now: 5_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.now);
  const written: string[] = [];
  return { clock, written, sink: { isTTY, write: (text: string) => written.push(text) } };
}

const CLEAR = '\r\u001b[K';

describe('a progress bar', () => {
  it('a progress bar is drawn over itself, and taken off the screen at the end', () => {
    const { clock, written, sink } = aTerminal();
    const bar = createProgressBar(sink, 4, true);
    for (let step = 0; step < 4; step += 1) {
      bar.step();
      clock.now += 100;
    }
    bar.end();
    expect(written).toEqual([
      `${CLEAR}${'█'.repeat(7)}${'░'.repeat(23)} 1 of 4`,
      `${CLEAR}${'█'.repeat(15)}${'░'.repeat(15)} 2 of 4`,
      `${CLEAR}${'█'.repeat(22)}${'░'.repeat(8)} 3 of 4`,
      `${CLEAR}${'█'.repeat(30)} 4 of 4`,
      CLEAR,
    ]);
  });

  it('a progress bar is drawn ten times a second at most, and when all is done', () => {
    const { clock, written, sink } = aTerminal();
    const bar = createProgressBar(sink, 4, true);
    bar.step();
    clock.now += 99;
    bar.step();
    bar.step();
    bar.step();
    expect(written.map((text) => text.slice(-6))).toEqual(['1 of 4', '4 of 4']);
  });

  it.each([
    ['off a terminal', false, true],
    ['where it is not wanted', true, false],
  ])('a progress bar is not there %s', (_, isTTY, enabled) => {
    const { written, sink } = aTerminal(isTTY);
    const bar = createProgressBar(sink, 1, enabled);
    bar.step();
    bar.end();
    expect(written).toEqual([]);
  });
});
