import { writeFile } from 'node:fs/promises';
import { Command } from '@commander-js/extra-typings';
import { type Examined, examine } from '../doctor/examine.js';
import type { Verdict } from '../doctor/judge.js';
import { toJunit } from '../doctor/junit.js';
import { PROBES, type Probe } from '../doctor/probes.js';
import { createRequests } from '../doctor/requests.js';
import { EXIT, fileFailure } from '../failure.js';
import { listOption } from '../option-values.js';
import type { Piece } from '../output.js';
import { readSecrets, secretOption } from '../secrets.js';
import type { Session } from '../session.js';
import { parseTarget } from '../target.js';
import { timeoutOption } from '../timeout-option.js';

const NAMES = PROBES.map(({ name }) => name);
const [GATE] = NAMES;

const MARKS: Readonly<Record<Verdict, Piece>> = {
  passed: ['good', '✓'],
  failed: ['bad', '✗'],
  unknown: ['warn', '?'],
  skipped: ['faint', '-'],
};

export function doctorCommand(session: Session) {
  return new Command('doctor')
    .description(
      'Sends good and hostile deliveries to your own endpoint, and says which of them it handles rightly. Your handlers run, with sample events whose ids begin with evt_doctor_: ask a test deployment.',
    )
    .argument('<url>', 'a port or a URL: your endpoint')
    .addOption(secretOption())
    .addOption(listOption('--only <probes>', 'these alone, with commas', NAMES))
    .addOption(listOption('--skip <probes>', 'all but these', NAMES))
    .option('--junit <file>', 'a report for CI')
    .addOption(timeoutOption())
    .option('--header-prefix <prefix>', 'what the header names begin with', 'x-service')
    .addHelpText(
      'after',
      `
Probes: ${NAMES.join(', ')}

Examples:
  service-webhooks doctor http://localhost:3000/webhooks
  service-webhooks doctor 3000 --json --junit doctor.xml
  service-webhooks doctor 3000 --skip large,burst`,
    )
    .action(async (given, { secret: sources, only, skip = [], junit, timeout: timeoutMs, headerPrefix }) => {
      const url = parseTarget(given);
      const [secret] = await readSecrets(session, sources);
      const wire = { url, timeoutMs, signal: session.signal };
      const wanted = ({ name }: Probe) => name === GATE || (only?.includes(name) ?? !skip.includes(name));
      const cases: Examined[] = [];
      for await (const one of examine(PROBES.filter(wanted), createRequests(secret, headerPrefix), wire)) {
        const { verdict, group, name, says, evidence, fix } = one;
        cases.push(one);
        session.out.record(
          { kind: 'probe', ...one },
          [MARKS[verdict], group.padEnd(12), name.padEnd(18), says, ['faint', evidence]],
          ...(verdict === 'failed' ? [[`   ${fix}`]] : []),
        );
      }
      if (junit !== undefined) {
        await writeFile(junit, toJunit(cases)).catch((error) => {
          throw fileFailure(junit, error);
        });
      }
      session.exitCode = conclude(session, cases);
    });
}

function conclude({ out }: Session, cases: readonly Examined[]) {
  const count = (wanted: Verdict) => cases.filter(({ verdict }) => verdict === wanted).length;
  const [passed, failed, unknown, skipped] = [count('passed'), count('failed'), count('unknown'), count('skipped')];
  out.record({ kind: 'summary', passed, failed, unknown, skipped }, [
    [failed > 0 ? 'bad' : 'good', `${passed} passed, ${failed} failed`],
    unknown > 0 ? `${unknown} cannot be told from outside` : undefined,
    skipped > 0 ? `${skipped} skipped` : undefined,
  ]);
  return failed > 0 ? EXIT.no : EXIT.ok;
}
