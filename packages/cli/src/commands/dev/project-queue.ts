import { Failure } from '../../failure.js';
import type { QueueSource } from '../../page/queue-source.js';
import type { Session } from '../../session.js';

/** Returns a view of the queue that the project's settings name; undefined for none, also where it cannot be found. */
export async function projectQueue(session: Session): Promise<QueueSource | undefined> {
  if (session.config.queue === undefined) return undefined;
  // Loaded here, so that `dev` starts as quickly as before without a queue.
  const { queuePlaced } = await import('../../queues/queue-options.js');
  const { queueView } = await import('../../queues/view/queue-view.js');
  try {
    return queueView(await queuePlaced(session, {}), { now: session.now });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    session.out.note(['warn', `The page does not show the queue of service-webhooks.json: ${error.message}`]);
    return undefined;
  }
}
