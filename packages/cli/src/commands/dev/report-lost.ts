import { explanation, type Output, timeOfDay } from '../../output.js';
import { howToFind } from '../../page/emulator/lost-webhook.js';
import type { LostReports } from './lost-webhooks.js';

/** Prints the webhooks that never come, and the questions of the app for their jobs. */
export function reportLost(out: Output, now: () => number): LostReports {
  return {
    lost({ id: deliveryId, eventId, endpointId, type, jobId, createdAt }) {
      const at = new Date(createdAt).toISOString();
      out.record(
        { kind: 'lost', at, type, eventId, deliveryId, endpointId, jobId },
        [
          ['faint', timeOfDay(createdAt)],
          ['bad', 'never comes'],
          type,
          eventId,
          jobId !== null && `job ${jobId}`,
          ['warn', 'never'],
        ],
        ...explanation(howToFind({ type, jobId })),
      );
    },
    asked({ id: deliveryId, type, jobId }, status) {
      const at = now();
      const isAnswered = status === 200;
      out.record(
        { kind: 'asked', at: new Date(at).toISOString(), type, deliveryId, jobId, status },
        [['faint', timeOfDay(at)], [isAnswered ? 'good' : 'bad', status], 'asked for its job', type, `job ${jobId}`],
        [
          isAnswered
            ? '   The app has asked the API for the job whose webhook never came.'
            : '   The app has asked the API for the job whose webhook never came, and the API has refused it.',
        ],
      );
    },
  };
}
