import { Command } from '@commander-js/extra-typings';
import { durationOf } from '../../duration.js';
import { EXIT } from '../../failure.js';
import { type Piece, shortened } from '../../output.js';
import { groupLetters } from '../../queues/letter-groups.js';
import { withQueue, withShownQueueOptions } from '../../queues/queue-options.js';
import type { Session } from '../../session.js';
import { readOldest } from './summaries.js';

export function statsCommand(session: Session) {
  const command = new Command('stats').summary('how many deliveries wait or run, since when, and the dead letters');
  return withShownQueueOptions(command).action((options) =>
    withQueue(session, options, async (opened) => {
      const { name } = opened.queue;
      const { depth, oldestMs, dead } = await opened.queue.stats();
      const { letters, oldest } = dead === 0 ? { letters: [] } : await readOldest(session, opened);
      const reasons = groupLetters(letters).map(({ reason, letters: { length: count } }) => ({ reason, count }));
      const age = oldestMs === undefined ? 'since when is not known' : `the oldest for ${durationOf(oldestMs)}`;
      session.out.record(
        { kind: 'stats', name, depth, oldestMs, dead, reasons, reasonsOfOldest: oldest },
        [['strong', name]],
        [`   ${depth} wait or run`, depth > 0 && age],
        [[dead > 0 ? 'bad' : 'faint', `   ${dead} dead`], oldest !== undefined && `reasons of the oldest ${oldest}`],
        ...reasons.map(({ reason, count }): Piece[] => [`      ${count} ×`, shortened(reason)]),
      );
      session.exitCode = EXIT.ok;
    }),
  );
}
