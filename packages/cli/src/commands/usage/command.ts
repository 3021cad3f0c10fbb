import { apiCommand, called, openClient } from '../../api-options.js';
import { EXIT } from '../../failure.js';
import type { Session } from '../../session.js';

export function usageCommand(session: Session) {
  return apiCommand('usage')
    .description('Prints the account’s quotas and recent consumption. Scope analytics:read.')
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks usage
  service-webhooks usage --json`,
    )
    .action(async (options) => {
      const client = await openClient(session, options);
      const { data } = await called(client.usage({ signal: session.signal }));
      const lines = JSON.stringify(data, null, 2).split('\n');
      session.out.record({ kind: 'usage', data }, ...lines.map((line) => [line]));
      session.exitCode = EXIT.ok;
    });
}
