import { WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { EXIT } from '../../failure.js';
import { listOption } from '../../options.js';
import { counted } from '../../output.js';
import type { Session } from '../../session.js';
import { untilQuit } from '../../until-quit.js';
import { DEV_KEY, DEV_PORT } from './dev-events.js';
import { devKeys } from './dev-keys.js';
import { devLikeCommand, readDevOptions } from './dev-options.js';
import { projectJobs } from './project-jobs.js';
import { projectQueue } from './project-queue.js';
import { reportAttempts } from './report-attempts.js';
import { reportLost } from './report-lost.js';
import { runScenarios, SCENARIO_NAMES, SCENARIOS } from './scenarios.js';
import { type Dev, type DevOptions, startDev } from './start-dev.js';

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
  service-webhooks dev 3000
  service-webhooks dev 3000 --emit generation.completed --speed 100x
  service-webhooks dev 3000 --scenario job-retried,outage --speed 100x
  service-webhooks dev 3000 --fault reset=0.1 --fault duplicate=0.2 --seed 42

Scenarios:
${SCENARIO_NAMES.map((name) => `  ${name.padEnd(14)}${SCENARIOS[name].says}`).join('\n')}

Events of your own go into a running dev with: service-webhooks send stt.failed --dev

Deliveries are signed with WEBHOOK_SECRET: give your app the same. The API takes the key ${DEV_KEY}.`,
    )
    .action(async (app, { emit = [], scenario: scenarios = [], ...given }) => {
      const options = await readDevOptions(session, app, given);
      const queue = await projectQueue(session);
      const jobs = await projectJobs(session);
      const dev = await startDev({ ...options, queue, jobs, reports: reportLost(session.out, session.now) });
      const { emulator } = dev;
      reportStart(session, dev, options);
      const reporting = reportAttempts(session.out, dev);
      for (const type of emit) await emulator.emit(type);
      const playing = runScenarios(emulator, scenarios, options.faults ?? {});
      const stopped = untilQuit(session, ({ pageKey }) => [
        ...devKeys(dev, options),
        pageKey(session, async () => dev.url),
      ]);
      await Promise.race([stopped, playing.then(() => stopped)]);
      await dev.close();
      await Promise.all([queue?.close(), jobs?.close()]);
      session.out.record({ kind: 'ended', attempts: await reporting }, [counted(await reporting, 'attempt')]);
      session.exitCode = EXIT.ok;
    });
}

function reportStart({ out }: Session, { url, emulator, endpoint }: Dev, { app, speed }: DevOptions): void {
  out.record(
    { kind: 'developing', url, deliversTo: app?.href, endpoint, speed, seed: emulator.seed },
    [['strong', `Deliveries: ${url}/`], app && `sent to ${app.href}`],
    [`API: ${url}`, `key ${DEV_KEY}`],
  );
}
