import type { Cli, CliOptions } from '../../support/cli.js';
import { browse } from '../page-browser.js';

/** `dev` on a free port, when it is ready. */
export async function runDev(cli: Cli, args: readonly string[] = [], options?: CliOptions) {
  const running = cli.start(['dev', '--port', '0', ...args], options);
  const developing = await running.next('developing');
  const url = String(developing['url']);
  return {
    ...running,
    ...{ developing, url, browser: browse(url) },
    async stop() {
      running.signal('SIGINT');
      return running.ended;
    },
  };
}
