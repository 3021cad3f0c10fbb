import { printable } from 'service-webhooks/printable';
import type { Examined } from './examine.js';
import type { Verdict } from './judge.js';

/**
 * Returns a report in the form that CI systems read. An unknown result becomes a skipped test. `failure`: why the
 * examination could not be completed.
 */
export function toJunit(cases: readonly Examined[], failure?: string): string {
  const count = (...verdicts: Verdict[]) => cases.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const attributes = {
    name: 'service-webhooks doctor',
    tests: cases.length + (failure === undefined ? 0 : 1),
    failures: count('failed'),
    errors: failure === undefined ? 0 : 1,
    skipped: count('unknown', 'skipped'),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
  };
  const lines = cases.map(({ group, name, says, verdict, evidence, fix, ms, effects }) => {
    const head = `    <testcase${written({ classname: group, name: `${name}: ${says}`, time: seconds(ms) })}`;
    if (verdict === 'passed' && effects === undefined) return `${head}/>`;
    if (verdict === 'passed') return `${head}><system-out>${escaped(evidence)}</system-out></testcase>`;
    const inside =
      verdict === 'failed'
        ? `<failure${written({ message: evidence })}>${escaped(fix)}</failure>`
        : `<skipped${written({ message: evidence })}/>`;
    return `${head}>${inside}</testcase>`;
  });
  if (failure !== undefined) {
    const inside = `<error${written({ message: failure })}/>`;
    lines.push(
      `    <testcase${written({ classname: 'doctor', name: 'the examination', time: seconds(0) })}>${inside}</testcase>`,
    );
  }
  const suite = `  <testsuite${written(attributes)}>\n${lines.join('\n')}\n  </testsuite>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suite}\n</testsuites>\n`;
}

function written(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text. XML cannot represent most control characters at all. */
function escaped(text: string): string {
  return printable(text).replace(/[&<>"]/g, (found) => ENTITIES[found] ?? found);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
