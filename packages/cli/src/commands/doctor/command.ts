import { writeFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { EXIT, type ExitCode, Failure, fileFailure } from '../../failure.js';
import { headerPrefixOption, listOption, timeoutOption } from '../../options.js';
import type { Piece } from '../../output.js';
import { readSecrets, secretOption } from '../../secrets.js';
import type { Session } from '../../session.js';
import { parseApp } from '../../target.js';
import { type Examined, examine } from './examine.js';
import type { Verdict } from './judge.js';
import { toJunit } from './junit.js';
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
    .argument('<url>', 'a port or a URL: your endpoint')
    .addOption(secretOption())
    .addOption(listOption('--only <probes>', 'only these probes, with commas', NAMES))
    .addOption(listOption('--skip <probes>', 'all probes except these', NAMES))
    .option('--junit <file>', 'a report for CI')
    .addOption(timeoutOption())
    .addOption(headerPrefixOption())
    .addHelpText(
      'after',
      `
Probes: ${NAMES.join(', ')}

Examples:
  service-webhooks doctor http://localhost:3000/webhooks
  service-webhooks doctor 3000 --json --junit doctor.xml
  service-webhooks doctor 3000 --skip large,burst`,
    )
    .action(async (given, { secret: sources, only, skip, junit, timeout: timeoutMs, headerPrefix }) => {
      const url = parseApp(session, given);
      const [secret] = await readSecrets(session, sources);
      const wire = { url, timeoutMs, signal: session.signal };
      const cases: Examined[] = [];
      for await (const one of examine(chosenProbes(only, skip), createRequests(secret, headerPrefix), wire)) {
        cases.push(one);
        reportCase(session, one);
      }
      if (junit !== undefined) await writeReport(junit, cases);
      session.exitCode = reportSummary(session, cases);
      const problem = cases[0]?.problem;
      if (problem !== undefined) throw new Failure('network', `no answer to a good delivery: ${problem}`);
    });
}

function reportCase({ out }: Session, one: Examined): void {
  const { verdict, group, name, says, evidence, fix } = one;
  const line: Piece[] = [MARKS[verdict], group.padEnd(12), name.padEnd(18), says, ['faint', evidence]];
  out.record(
    { kind: 'probe', ...one },
    ...(verdict === 'skipped' ? [] : [line]),
    ...(verdict === 'failed' || verdict === 'warned' ? [[`   ${fix}`]] : []),
  );
}

async function writeReport(file: string, cases: readonly Examined[]): Promise<void> {
  await writeFile(file, toJunit(cases)).catch((error) => {
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
    ...(gateFix ? [[['strong', 'Fix first:'], gateFix] as Piece[]] : []),
  );
  return failed > 0 ? EXIT.no : EXIT.ok;
}

function skippedText(count: number): string {
  return `${count} other ${count === 1 ? 'probe was' : 'probes were'} skipped: a good delivery comes first`;
}
