import { once } from 'node:events';
import type { Emulator } from '../../../emulator/index.js';
import { WEBHOOK_EVENT_TYPES } from '../../../event.js';
import { counted } from '../../counted.js';
import { EXIT } from '../../failure.js';
import { listOption } from '../../option-values.js';
import type { Session } from '../../session.js';
import { parseApp } from '../../target.js';
import { DEV_KEY, DEV_PORT } from './dev-address.js';
import { devLikeCommand, readTextSecret } from './dev-options.js';
import { reportAttempt, reportPause } from './report-attempt.js';
import { runScenarios, SCENARIO_NAMES, SCENARIOS } from './scenarios.js';
import { startDev } from './start-dev.js';

export function devCommand(session: Session) {
  return devLikeCommand('dev', DEV_PORT)
    .description(
      'Runs the service on this machine, on one port: it delivers to your app with retries as the service does, answers its API, and shows every delivery on a page. Ends with Ctrl+C.',
    )
    .addOption(listOption('--emit <types>', 'event types to emit at the start', WEBHOOK_EVENT_TYPES))
    .addOption(listOption('--scenario <names>', 'scenarios to play at the start; the names are below', SCENARIO_NAMES))
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks dev http://localhost:3000/webhooks
  service-webhooks dev 3000 --emit generation.completed --speed 100x
  service-webhooks dev 3000 --scenario job-retried,outage --speed 100x
  service-webhooks dev 3000 --fault reset=0.1 --fault duplicate=0.2 --seed 42

Scenarios:
${SCENARIO_NAMES.map((name) => `  ${name.padEnd(14)}${SCENARIOS[name].says}`).join('\n')}

Events of your own go into a running dev with: service-webhooks send stt.failed --dev

Deliveries are signed with WEBHOOK_SECRET: give your app the same. The API takes the key ${DEV_KEY}.`,
    )
    .action(async (app, { secret: sources, port, events, emit = [], ...options }) => {
      const { speed, scenario: scenarios = [], fault: faults, seed, headerPrefix } = options;
      const target = app === undefined ? undefined : parseApp(session, app);
      const signingSecret = target && (await readTextSecret(session, sources));
      const dev = await startDev({ app: target, signingSecret, events, speed, faults, seed, headerPrefix, port });
      const { url, emulator, endpoint } = dev;
      session.out.record(
        { kind: 'developing', url, deliversTo: target?.href, endpoint, speed, seed: emulator.seed },
        [['strong', `Deliveries: ${url}/`], target && `sent to ${target.href}`],
        [`API: ${url}`, `key ${DEV_KEY}`],
      );
      const reporting = report(session, emulator);
      for (const type of emit) await emulator.emit(type);
      const playing = runScenarios(emulator, scenarios, faults ?? {});
      await Promise.race([ended(session.signal), playing.then(() => ended(session.signal))]);
      await dev.close();
      session.out.record({ kind: 'ended', attempts: await reporting }, [counted(await reporting, 'attempt')]);
      session.exitCode = EXIT.ok;
    });
}

async function ended(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

async function report({ out }: Session, { attempts, endpoints }: Emulator): Promise<number> {
  const paused = new Set<string>();
  let count = 0;
  for await (const attempt of attempts) {
    count += 1;
    reportAttempt(out, attempt);
    for (const { id, url, state } of endpoints.list()) {
      if (state !== 'paused') paused.delete(id);
      else if (!paused.has(id)) reportPause(out, { id, url });
      if (state === 'paused') paused.add(id);
    }
  }
  return count;
}
