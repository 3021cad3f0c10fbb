import type { Client } from 'service-webhooks/client';
import { apiCommand, called, openClient } from '../../api-options.js';
import { EXIT, Failure } from '../../failure.js';
import type { Session } from '../../session.js';

export function limitsCommand(session: Session) {
  return apiCommand('limits')
    .description(
      'Says whether the API key works, what its account has left, and with analytics:read, what it has used.',
    )
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks limits
  service-webhooks limits --key file:key.txt --base-url https://api.example.com`,
    )
    .action(async (options) => {
      const client = await openClient(session, options);
      const { data, sandbox } = await called(client.account.apiLimits({ signal: session.signal }));
      const { usage, usageProblem } = await readUsage(client, session.signal);
      const { plan, credits, limits } = data;
      session.out.record(
        { kind: 'limits', ...data, sandbox, usage, usageProblem },
        [['strong', plan.name], plan.api_access ? 'with API access' : 'without API access', sandbox && 'sandbox key'],
        [`credits  ${credits.remaining} of ${credits.monthly_allocation} a month`],
        [`requests  ${limits.daily_requests_remaining} of ${limits.daily_request_limit} left today`],
        [`rate  ${limits.rate_limit_per_minute} a minute`],
        [`keys  ${limits.max_keys_per_account} at most`],
        usageProblem === undefined ? [`usage  ${JSON.stringify(usage)}`] : [['warn', 'no usage'], usageProblem],
      );
      session.exitCode = EXIT.ok;
    });
}

/** Reads what the account has used. A failure is returned, so that it does not hide the limits. */
async function readUsage(client: Client, signal: AbortSignal): Promise<{ usage: unknown; usageProblem?: string }> {
  try {
    return { usage: (await called(client.usage({ signal }))).data };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return {
      usage: null,
      usageProblem: `The usage was not read, for which the key needs analytics:read: ${error.message}`,
    };
  }
}
