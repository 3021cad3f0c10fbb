import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Secret, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { EXIT, type ExitCode, Failure, fileFailure } from '../../failure.js';
import { duration, headerPrefixOption, listOption, timeoutOption } from '../../options.js';
import { explanation, type Piece } from '../../output.js';
import { readSecrets, secretOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { parseApp } from '../../target.js';
import { createEffectCounter, type EffectCounter } from './effect-counter.js';
import { type Examined, examine } from './examine.js';
import type { Verdict } from './judge.js';
import { toJunit } from './junit.js';
import { createObserver } from './observer.js';
import { chosenProbes, PROBES } from './probes.js';
import { createRequests } from './requests.js';

const NAMES = PROBES.map(({ name }) => name);

const MARKS: Readonly<Record<Verdict, Piece>> = {
  passed: ['good', '✓'],
  failed: ['bad', '✗'],
  warned: ['warn', '!'],
  unknown: ['warn', '?'],
  skipped: ['faint', '-'],
};

export function doctorCommand(session: Session) {
  return new Command('doctor')
    .description(
      'Sends valid and hostile deliveries to your endpoint and reports which of them it handles correctly. Your handlers run, with sample events whose ids begin with evt_doctor_: use a test deployment.',
    )
    .argument('<url>', 'your endpoint: a port, which means its path /webhooks, or a URL')
    .addOption(secretOption())
    .addOption(listOption('--only <probes>', 'only these probes, with commas', NAMES))
    .addOption(listOption('--skip <probes>', 'all probes except these', NAMES))
    .option('--junit <file>', 'a report for CI')
    .addOption(observerOption())
    .addOption(
      new Option('--observer-wait <time>', 'with --observer: how long after the answer an effect may happen')
        .argParser(duration)
        .default(5_000, '5s'),
    )
    .addOption(
      new Option('--type <type>', 'the event type to send, one that your app handles')
        .choices(WEBHOOK_EVENT_TYPES)
        .default('generation.completed' as const),
    )
    .addOption(timeoutOption())
    .addOption(headerPrefixOption())
    .addHelpText(
      'after',
      `
Probes: ${NAMES.join(', ')}

--observer names a command that prints how many effects your handler has had so far, as one number. It finds the id and the
type of the event in WEBHOOK_EVENT_ID and WEBHOOK_EVENT_TYPE. doctor runs it before and after the deliveries of an event, and
fails where an event had more than one effect, or none.

Examples:
  service-webhooks doctor 3000
  service-webhooks doctor 3000/api/webhooks
  service-webhooks doctor 3000 --json --junit doctor.xml
  service-webhooks doctor 3000 --skip large,burst
  service-webhooks doctor 3000 --observer 'grep -c "$WEBHOOK_EVENT_ID" effects.log || true'
  service-webhooks doctor 3000 --observer "psql -tAc \\"select count(*) from effects where event_id = '\\$WEBHOOK_EVENT_ID'\\""
  service-webhooks doctor 3000 --type stt.completed --observer 'redis-cli llen effects'`,
    )
    .action(async (given, { secret: sources, only, skip, junit, type, ...options }) => {
      const url = parseApp(session, given);
      const [secret] = await readSecrets(session, sources);
      const { timeout: timeoutMs, headerPrefix } = options;
      const requests = createRequests(secret, headerPrefix, type);
      const cases: Examined[] = [];
      const report = createReport(session);
      try {
        const effects = await openObserver(session, secret, type, options);
        const wire = { url, secret, headerPrefix, timeoutMs, signal: session.signal, effects };
        for await (const one of examine(chosenProbes(only, skip), requests, wire)) {
          cases.push(one);
          report(one);
        }
      } catch (error) {
        // A file of an earlier run must not look like the result of this one.
        if (junit !== undefined && error instanceof Failure) await writeReport(junit, cases, error);
        throw error;
      }
      if (junit !== undefined) await writeReport(junit, cases);
      session.exitCode = reportSummary(session, cases);
      const problem = cases[0]?.problem;
      if (problem !== undefined) throw new Failure('network', `no answer to a good delivery: ${url.host}: ${problem}`);
    });
}

function observerOption() {
  return new Option('--observer <command>', 'a command that prints how often the effect has happened').argParser(
    (command) => {
      if (command.trim() !== '') return command;
      throw new InvalidArgumentError('It takes a command that prints a number.');
    },
  );
}

/** Runs the observer once, so that a broken one is known before the first delivery. @throws Failure */
async function openObserver(
  { env: all, fileOf, signal, now }: Session,
  secret: Secret,
  type: string,
  {
    observer: command,
    observerWait: waitMs,
    timeout: timeoutMs,
  }: { observer?: string; observerWait: number; timeout: number },
): Promise<EffectCounter | undefined> {
  if (command === undefined) return undefined;
  // Not the values of files such as .env: the command gets no secret that the shell of the user does not have.
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !fileOf.has(name)));
  const hidden = [Buffer.from(secret).toString()];
  const observer = createObserver(command, { env, timeoutMs, signal, hidden });
  await observer.count({ id: `evt_doctor_${crypto.randomUUID()}`, type });
  return createEffectCounter({ observer, waitMs, now, sleep: (ms) => sleep(ms, undefined, { signal }) });
}

/** Returns what prints a case. What to do is printed once, where several probes in a row have the same fault. */
function createReport({ out }: Session): (one: Examined) => void {
  let last = '';
  return (one) => {
    const { verdict, group, name, says, evidence, fix, diagnosis } = one;
    const line: Piece[] = [MARKS[verdict], group.padEnd(12), name.padEnd(18), says, ['faint', evidence]];
    const isAdvised =
      verdict === 'failed' || verdict === 'warned' || (verdict === 'unknown' && diagnosis !== undefined);
    const advice = isAdvised ? explanation(fix === last ? 'As above.' : fix) : [];
    if (isAdvised) last = fix;
    out.record({ kind: 'probe', ...one }, ...(verdict === 'skipped' ? [] : [line]), ...advice);
  };
}

async function writeReport(file: string, cases: readonly Examined[], failure?: Failure): Promise<void> {
  await writeFile(file, toJunit(cases, failure?.message)).catch((error) => {
    throw fileFailure(file, error);
  });
}

function reportSummary({ out }: Session, cases: readonly Examined[]): ExitCode {
  const count = (wanted: Verdict) => cases.filter(({ verdict }) => verdict === wanted).length;
  const [passed, failed, warned] = [count('passed'), count('failed'), count('warned')];
  const [unknown, skipped] = [count('unknown'), count('skipped')];
  const [first] = cases;
  const gateFix = first?.verdict === 'failed' ? first.fix : undefined;
  out.record(
    { kind: 'summary', passed, failed, warned, unknown, skipped },
    ...(skipped > 0 ? [[['faint', '-'], skippedText(skipped)] as Piece[]] : []),
    [
      [failed > 0 ? 'bad' : 'good', `${passed} passed, ${failed} failed`],
      warned > 0 ? `${warned} warned about` : undefined,
      unknown > 0 ? `${unknown} cannot be seen from outside` : undefined,
    ],
    ...(cases.some(isUnexplained) ? [[UNSEEN]] : []),
    ...(gateFix ? [[['strong', 'Fix first:'], gateFix] as Piece[]] : []),
  );
  return failed > 0 ? EXIT.no : EXIT.ok;
}

const UNSEEN =
  'To see them: --observer, with a command that prints how often the effect has happened. --help has examples.';

function isUnexplained({ verdict, diagnosis }: Examined): boolean {
  return verdict === 'unknown' && diagnosis === undefined;
}

function skippedText(count: number): string {
  return `${count} other ${count === 1 ? 'probe was' : 'probes were'} skipped: a good delivery comes first`;
}
