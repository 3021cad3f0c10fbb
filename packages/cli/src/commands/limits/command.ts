import { type Client, isServiceApiError } from 'service-webhooks/client';
import { apiCommand, called, openClient } from '../../api-options.js';
import { EXIT, Failure } from '../../failure.js';
import type { Piece } from '../../output.js';
import type { Session } from '../../session.js';

export function limitsCommand(session: Session) {
  return apiCommand('limits')
    .description(
      'Says whether the API key works, what its account has left, and what it has used. The usage needs the scope analytics:read.',
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
      const consumption = await readUsage(client, session.signal);
      const { plan, credits, limits } = data;
      session.out.record(
        { kind: 'limits', ...data, sandbox, ...consumption },
        [['strong', plan.name], plan.api_access ? 'with API access' : 'without API access', sandbox && 'sandbox key'],
        [`credits  ${credits.remaining} of ${credits.monthly_allocation} a month`],
        [`requests  ${limits.daily_requests_remaining} of ${limits.daily_request_limit} left today`],
        [`rate  ${limits.rate_limit_per_minute} a minute`],
        [`keys  ${limits.max_keys_per_account} at most`],
        ...usageLines(consumption),
      );
      session.exitCode = EXIT.ok;
    });
}

/** What the account has used, as the service says it: its fields are not documented. */
interface Usage {
  usage: unknown;
  /** Why there is none. */
  usageProblem?: string;
}

/** Reads the usage. A failure is returned, so that it does not hide the limits. */
async function readUsage(client: Client, signal: AbortSignal): Promise<Usage> {
  const call = client.usage({ signal });
  try {
    return { usage: (await called(call)).data };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const refusal = await call.catch((reason: unknown) => reason);
    const lacksScope = isServiceApiError(refusal) && refusal.is('insufficient_scope');
    const usageProblem = lacksScope
      ? 'The API key has no scope analytics:read. Create a key with this scope in the dashboard to see the usage.'
      : error.message;
    return { usage: null, usageProblem };
  }
}

function usageLines({ usage, usageProblem }: Usage): Piece[][] {
  if (usageProblem !== undefined) return [[['warn', 'no usage'], usageProblem]];
  return [
    ['usage'],
    ...JSON.stringify(usage, null, 2)
      .split('\n')
      .map((line) => [`  ${line}`]),
  ];
}
