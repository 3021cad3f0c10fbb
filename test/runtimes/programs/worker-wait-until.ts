import { env, waitUntil } from 'cloudflare:workers';
import type { ReceiverOptions, WebhookEvent } from 'service-webhooks';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/fetch';

/** How long work goes on after the response. */
const WORK_MS = 600;

/** The work that was not stopped before its end. */
const ended: string[] = [];

const work = async (name: string) => {
  await new Promise((resolve) => setTimeout(resolve, WORK_MS));
  ended.push(name);
};

/** The endpoints, with `waitUntil` and without it. */
function endpoints(options: Pick<ReceiverOptions, 'waitUntil'>) {
  const common = { secret: env.WEBHOOK_SECRET, logger: false, ...options } as const;
  const late = ({ id }: WebhookEvent) => work(id);
  return {
    late: webhookHandler({ ...common, deadlineMs: 300, on: { '*': late } }),
    observed: webhookHandler({ ...common, on: {}, observe: ({ delivery }) => work(delivery?.event.id ?? 'none') }),
    routed: webhookMiddleware(common, () => new Response('done')),
  };
}

const served: Record<string, ReturnType<typeof endpoints>> = {
  with: endpoints({ waitUntil }),
  without: endpoints({}),
};

export default {
  async fetch(request: Request): Promise<Response> {
    const [, platform = '', name = ''] = new URL(request.url).pathname.split('/');
    const receive = served[platform]?.[name as keyof ReturnType<typeof endpoints>];
    return receive ? receive(request) : Response.json(ended);
  },
};
