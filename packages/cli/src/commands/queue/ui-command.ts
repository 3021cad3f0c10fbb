import { Command, Option } from '@commander-js/extra-typings';
import { EXIT } from '../../failure.js';
import { portFailure } from '../../listening.js';
import { wholeNumber } from '../../options.js';
import { queuePlaced, withShownQueueOptions } from '../../queues/queue-options.js';
import type { Session } from '../../session.js';
import { untilQuit } from '../../until-quit.js';

const UI_PORT = 4751;

/** `queue --ui`: the queue on a page of this machine, until Ctrl+C. */
export function uiCommand(session: Session) {
  const command = new Command('ui')
    .summary('the queue on a page of this machine; queue --ui is the same')
    .addOption(
      new Option('--ui [=port]', `the port of the page, 0 for any; ${UI_PORT}`)
        .preset(`${UI_PORT}`)
        .argParser(wholeNumber(0, 65_535)),
    );
  return withShownQueueOptions(command).action(async ({ ui: port = UI_PORT, ...options }) => {
    // Loaded here, so that the other commands of a queue start quickly.
    const { servePage } = await import('../../page/server/page-server.js');
    const { queueView } = await import('../../queues/view/queue-view.js');
    const { projectJobs } = await import('../dev/project-jobs.js');
    const placed = await queuePlaced(session, options);
    const source = queueView(placed, { opened: await placed.open(), now: session.now });
    const jobs = await projectJobs(session);
    try {
      const page = await servePage(undefined, port, { queue: source, jobs }).catch((error) => {
        throw portFailure(error, '127.0.0.1', port, '--ui');
      });
      const { where } = placed;
      session.out.record({ kind: 'serving', page: page.url, where }, [['strong', `Queue: ${page.url}`], where]);
      await untilQuit(session, ({ pageKey }) => [pageKey(session, async () => page.url, 'Queue')]);
      await page.close();
    } finally {
      await Promise.all([source.close(), jobs?.close()]);
    }
    session.exitCode = EXIT.ok;
  });
}
