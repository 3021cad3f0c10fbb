import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { withAdvice } from '../../diagnosis/advice.js';
import type { KeyAction } from '../../keys.js';
import { inWords } from './report-attempts.js';
import type { Dev, DevOptions } from './start-dev.js';

/** Returns what the keys of `dev` do on a terminal, as far as it is not the same in every command. */
export function devKeys(
  { source }: Pick<Dev, 'source'>,
  { events = WEBHOOK_EVENT_TYPES }: Pick<DevOptions, 'events'>,
): readonly KeyAction[] {
  const { replay, send, advance } = source.actions;
  const [type = WEBHOOK_EVENT_TYPES[0]] = events;

  async function replayLast(): Promise<string> {
    const last = source.snapshot().deliveries.at(-1);
    if (last === undefined || replay === undefined) return 'There is no delivery yet.';
    const said = await replay({ delivery: last.id, exact: false });
    const replayed = source.delivery(last.id)?.attempts.findLast(({ kind }) => kind === 'replay');
    const details = replayed && (await source.attempt(replayed.id));
    return withAdvice(said, details?.advice);
  }

  /** Lets time pass until the first of the deliveries that wait is sent again. */
  async function advanceToNext(): Promise<string> {
    const { overview, deliveries } = source.snapshot();
    const waits = deliveries.flatMap(({ nextAt }) => (nextAt === undefined ? [] : [nextAt - overview.now]));
    if (waits.length === 0 || advance === undefined) return 'No delivery waits for its next attempt.';
    const ms = Math.max(1, Math.ceil(Math.min(...waits) * overview.speed));
    await advance({ ms });
    return `The clock is advanced by ${inWords(ms)}, to the next attempt.`;
  }

  return [
    { key: 'n', says: `sends ${type}`, run: async () => (await send?.({ type })) ?? '' },
    { key: 'a', says: 'advances the clock to the next attempt', run: advanceToNext },
    { key: 'r', says: 'replays the last delivery', run: replayLast },
  ];
}
