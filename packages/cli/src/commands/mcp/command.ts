import manifest from '../../../package.json' with { type: 'json' };
import { EXIT } from '../../failure.js';
import { shortened } from '../../output.js';
import { type Session, untilAborted } from '../../session.js';
import { devLikeCommand, readDevOptions } from '../dev/dev-options.js';
import { startDev } from '../dev/start-dev.js';
import { createResults } from './tool-result.js';
import { createTools } from './tools.js';

export function mcpCommand(session: Session) {
  return devLikeCommand('mcp', 0)
    .description(
      'Runs dev as a server of the Model Context Protocol over stdio, for coding agents: tools send events to your app, wait for deliveries, explain, replay, and let time pass. Ends with its client.',
    )
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks mcp 3000
  claude mcp add webhooks -- npx service-webhooks-cli mcp 3000

Results never have a secret in them, and mark what an event, an app or an endpoint has chosen.`,
    )
    .action(async (given, options) => {
      const { serveMcp } = await import('./mcp-server.js'); // the SDK takes a while to load
      const settings = await readDevOptions(session, given, options);
      const dev = await startDev(settings);
      const results = createResults(dev.secrets.all);
      session.out.note(`MCP over stdio; deliveries: ${dev.url}/`);
      const serving = serveMcp(session.stdin(), (line) => session.stdout.write(line), {
        version: manifest.version,
        instructions: `${INSTRUCTIONS} A person sees the deliveries at ${dev.url}/.`,
        tools: createTools({ ...settings, dev, result: results.done }),
        failed: results.failed,
        dropped: ({ message }) => session.out.note(`A line of the client got no answer: ${shortened(message, 200)}`),
      });
      await Promise.race([serving, untilAborted(session.signal)]);
      await dev.close();
      session.exitCode = EXIT.ok;
    });
}

const INSTRUCTIONS =
  'The webhook sender of the audio service, on this machine: deliveries to the app are signed and retried as in ' +
  'production. Use send, then wait_for with the delivery it returns; explain says why an app refuses a delivery; ' +
  'advance_time makes retries due.';
