import type { Emulator, EmulatorDelivery } from 'service-webhooks-emulator';
import { askedJob } from '../../page/emulator/lost-webhook.js';
import type { Api } from './dev-events.js';

/** What is said of webhooks that never come. */
export interface LostReports {
  /** The fault `never` has lost a delivery. */
  lost(delivery: EmulatorDelivery): void;
  /** The app has asked the API for the job of a lost delivery, and was answered with this status. */
  asked(delivery: EmulatorDelivery, status: number): void;
}

/** The webhooks that never come, and whether the app asks for their jobs. */
export interface LostWebhooks {
  /** The emulator, with reports of what it loses. */
  readonly emulator: Emulator;
  /** Returns the API, with reports of the jobs that it is asked for. */
  watching(api: Api): Api;
  /** Whether the API has told the app how the job of a lost delivery ended. */
  wasAsked(deliveryId: string): boolean;
}

/** As many as an emulator keeps. */
const MOST_ASKED = 10_000;

export function watchLost(emulator: Emulator, reports: LostReports): LostWebhooks {
  const asked = new Set<string>();

  function reportLost(deliveries: readonly EmulatorDelivery[]): void {
    for (const delivery of deliveries) if (delivery.state === 'lost') reports.lost(delivery);
  }

  function noteAsked(jobId: string, status: number): void {
    for (const delivery of emulator.deliveries.list({ state: 'lost' })) {
      if (delivery.jobId !== jobId) continue;
      if (status === 200) asked.add(delivery.id);
      const [oldest = ''] = asked;
      if (asked.size > MOST_ASKED) asked.delete(oldest);
      reports.asked(delivery, status);
    }
  }

  return {
    emulator: {
      ...emulator,
      async emit(...event: Parameters<Emulator['emit']>) {
        const emitted = await emulator.emit(...event);
        reportLost(emitted.deliveries);
        return emitted;
      },
      async sendTest(...test) {
        const delivery = await emulator.sendTest(...test);
        reportLost([delivery]);
        return delivery;
      },
    },
    watching: (api) => async (request) => {
      const jobId = askedJob(request.method, new URL(request.url).pathname);
      const response = await api(request);
      if (jobId !== undefined) noteAsked(jobId, response.status);
      return response;
    },
    wasAsked: (deliveryId) => asked.has(deliveryId),
  };
}
