import { apiCommand, called, openClient } from '../../api-options.js';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';

export function limitsCommand(session: Session) {
  return apiCommand('limits')
    .description('Says whether the API key works, and what its account has left.')
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
      const { plan, credits, limits } = data;
      session.out.record(
        { kind: 'limits', ...data, sandbox },
        [['strong', plan.name], plan.api_access ? 'with API access' : 'without API access', sandbox && 'sandbox key'],
        [`credits  ${credits.remaining} of ${credits.monthly_allocation} a month`],
        [`requests  ${limits.daily_requests_remaining} of ${limits.daily_request_limit} left today`],
        [`rate  ${limits.rate_limit_per_minute} a minute`],
        [`keys  ${limits.max_keys_per_account} at most`],
      );
      session.exitCode = EXIT.ok;
    });
}
