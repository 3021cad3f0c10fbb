import { expect, it } from 'vitest';
import type { Examined } from '../../../src/commands/doctor/examine.js';
import { toJunit } from '../../../src/commands/doctor/junit.js';

const aCase = (changes: Partial<Examined>): Examined => ({
  ...{ group: 'accepts', name: 'good', says: 'a good delivery', fix: 'Look.', verdict: 'passed', evidence: '200' },
  ...{ ms: 4 },
  ...changes,
});

it('the --junit report of doctor is XML in the form that CI systems read', () => {
  const cases = [
    aCase({}),
    aCase({ group: 'in time', verdict: 'failed', evidence: 'answered 500', ms: 1_500 }),
    aCase({ verdict: 'unknown', evidence: 'cannot be told' }),
    aCase({ verdict: 'skipped', evidence: 'not asked', ms: 0 }),
  ];
  expect(toJunit(cases)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="service-webhooks doctor" tests="4" failures="1" errors="0" skipped="2" time="1.508">
    <testcase classname="accepts" name="good: a good delivery" time="0.004"/>
    <testcase classname="in time" name="good: a good delivery" time="1.500"><failure message="answered 500">Look.</failure></testcase>
    <testcase classname="accepts" name="good: a good delivery" time="0.004"><skipped message="cannot be told"/></testcase>
    <testcase classname="accepts" name="good: a good delivery" time="0.000"><skipped message="not asked"/></testcase>
  </testsuite>
</testsuites>
`);
});

it('the --junit report of doctor escapes what the endpoint answers', () => {
  const report = toJunit([aCase({ verdict: 'failed', evidence: '"><a&b>\u0000\n', fix: '</failure>&' })]);
  expect(report).toContain('<failure message="&quot;&gt;&lt;a&amp;b&gt;\\u0000\\n">&lt;/failure&gt;&amp;</failure>');
});

it('the --junit report of doctor has what an observer counted, and why an examination was not completed', () => {
  const report = toJunit([aCase({ effects: [1, 0], evidence: 'one <effect>' })], 'the observer printed "no"');
  expect(report.split('\n').slice(2)).toEqual([
    '  <testsuite name="service-webhooks doctor" tests="2" failures="0" errors="1" skipped="0" time="0.004">',
    '    <testcase classname="accepts" name="good: a good delivery" time="0.004"><system-out>one &lt;effect&gt;</system-out></testcase>',
    '    <testcase classname="doctor" name="the examination" time="0.000"><error message="the observer printed &quot;no&quot;"/></testcase>',
    '  </testsuite>',
    '</testsuites>',
    '',
  ]);
});
