import type { WebhookEndpoint } from 'service-webhooks/client';
import { RETRY_HORIZON_MS } from 'service-webhooks/service';
import { apiCommand, called, listEndpoints, noEndpoint, openClient } from '../../api-options.js';
import { confirmed } from '../../confirmed.js';
import { EXIT, Failure } from '../../failure.js';
import type { Output, Piece } from '../../output.js';
import { secretOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { checkApp, HOW_TO_ACCEPT } from './check-app.js';
import { beginRotation, checkBeginning, type Rotation, rotationFile } from './rotation.js';

/** A new secret takes a second endpoint: the service has no other way. Each run does the step that is next. */
export function rotateCommand(session: Session) {
  return apiCommand('rotate')
    .summary('a new signing secret, without a lost event: each run does the next step')
    .argument('<id>', 'the id of the endpoint whose secret is replaced')
    .option('--save-secret <file>', 'where the new signing secret is put; a new file')
    .option('--second <id>', 'the endpoint with the new secret, if it is there already')
    .addOption(secretOption())
    .option('--no-wait', 'delete the first at once: events that only it retries are lost')
    .option('--dry-run', 'show the steps and change nothing')
    .option('--yes', 'delete the first without asking')
    .action(async (id, { dryRun = false, second, saveSecret, ...options }) => {
      const client = await openClient(session, options);
      const step = reportStep(session.out);
      const file = rotationFile(id);
      const begun = await file.read();
      const endpoints = await listEndpoints(client, { signal: session.signal });
      const first = endpoints.find((endpoint) => endpoint.id === id);
      session.exitCode = EXIT.ok;

      if (begun === undefined) {
        if (first === undefined) throw noEndpoint(id);
        checkBeginning(first, endpoints, { second });
        if (dryRun) return showAll(step, first);
        const rotation = await beginRotation(client, first, { second, saveSecret }, session.now);
        await file.write(rotation);
        return showAll(step, first, rotation);
      }
      if (!endpoints.some((endpoint) => endpoint.id === begun.second)) {
        const advice = `delete ${file.path} to begin again.`;
        throw new Failure('no', `${begun.second} is gone, which had the new secret: ${advice}`);
      }
      if (first) {
        if (dryRun) return showAll(step, first, begun);
        if (!(await mayDelete(session, step, first, begun, options))) {
          step('delete', 'later', { says: `${id} is still there: run this again` });
          session.exitCode = EXIT.no;
          return;
        }
        await called(client.webhooks.delete(id));
      }
      if (!dryRun) await file.remove();
      step('delete', 'done', { says: `${id} is gone, ${begun.second} delivers: take the old secret out of the app` });
    });
}

interface DeletionOptions {
  secret?: readonly string[] | undefined;
  headerPrefix: string;
  wait: boolean;
  yes?: true | undefined;
}

/** Reports the steps before the deletion of the first endpoint, and asks about it where they are done. */
async function mayDelete(
  session: Session,
  step: ReportStep,
  { id, url }: WebhookEndpoint,
  begun: Rotation,
  { secret: sources, headerPrefix, wait, yes }: DeletionOptions,
): Promise<boolean> {
  step('create', 'done', created(begun));
  const app = await checkApp(session, begun, { url, sources, headerPrefix });
  step('accept', app.state, { says: app.says });
  if (app.state === 'refused') return false;
  const until = untilOf(begun);
  if (wait && session.now() < Date.parse(until)) {
    step('wait', 'next', { says: `until ${until}, since ${id} alone retries the events from before`, until });
    return false;
  }
  step('wait', 'done', { says: wait ? `both have delivered since ${begun.begunAt}` : 'left out' });
  return (
    yes === true || confirmed(session, `Delete ${id}, with its delivery history?`, 'pass --yes to delete the first')
  );
}

type StepName = 'create' | 'accept' | 'wait' | 'delete';
type StepState = 'done' | 'next' | 'later' | 'refused' | 'unknown';

const MARKS: Readonly<Record<StepState, Piece>> = {
  done: ['good', '✓'],
  next: ['strong', '→'],
  later: ['faint', '·'],
  refused: ['bad', '✗'],
  unknown: ['warn', '?'],
};

const ORDER: readonly StepName[] = ['create', 'accept', 'wait', 'delete'];

/** One line for a step of a rotation: how far it is, and what it is about. */
type ReportStep = (step: StepName, state: StepState, details: StepDetails) => void;

interface StepDetails {
  says: string;
  secretFile?: string | undefined;
  until?: string | undefined;
}

function reportStep(out: Output): ReportStep {
  return (step, state, { says, ...more }) =>
    out.record({ kind: 'step', step, state, says, ...more }, [
      MARKS[state],
      `${ORDER.indexOf(step) + 1} ${step.padEnd(6)}`,
      says,
      more.secretFile && `the new secret is in ${more.secretFile}`,
    ]);
}

/** Reports every step of a rotation, unchecked. */
function showAll(step: ReportStep, { id, url }: WebhookEndpoint, rotation?: Rotation): void {
  step('create', rotation ? 'done' : 'next', rotation ? created(rotation) : { says: `a second endpoint for ${url}` });
  step('accept', rotation ? 'next' : 'later', { says: HOW_TO_ACCEPT });
  const until = rotation && untilOf(rotation);
  const hours = `${Math.floor(RETRY_HORIZON_MS / 3_600_000)} h ${Math.ceil((RETRY_HORIZON_MS % 3_600_000) / 60_000)} min`;
  step('wait', 'later', {
    says: `${until ? `until ${until}` : hours}, since ${id} alone retries the events from before`,
    until,
  });
  step('delete', 'later', { says: `${id}, after a question` });
}

function created({ second, secretFile }: Rotation): { says: string; secretFile: string | undefined } {
  return { says: `${second} has the same URL`, secretFile };
}

function untilOf({ begunAt }: Rotation): string {
  return new Date(Date.parse(begunAt) + RETRY_HORIZON_MS).toISOString();
}
