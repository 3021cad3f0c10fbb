import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newcomerPrograms, type Programs } from '../../../../../test/newcomer/start-program.js';
import { useCli } from '../../support/cli.js';

const cli = useCli();
let programs: Programs;
beforeAll(() => {
  programs = newcomerPrograms();
});
afterAll(() => programs.remove());

const PROBES = ['duplicate', 'duplicate-new-key', 'shared-key', 'same-moment'];
const ONE_EVENT = ['duplicate', 'duplicate-new-key', 'same-moment'];
const fileOfEffects = () => join(cli.cwd, 'effects.log');

/** A program with an Express app whose work is a line of a file. */
const program = (route: string, before = '') => `
  import express from 'express';
  import { appendFileSync } from 'node:fs';
  import { verify } from 'service-webhooks';
  import { webhookHandler } from 'service-webhooks/express';
  const secret = process.env.WEBHOOK_SECRET;
  const work = ({ id }) => appendFileSync(${JSON.stringify(fileOfEffects())}, id + '\\n');
  const on = { '*': work };
  const app = express();
  ${before}
  app.post('/webhooks', ${route});
  app.listen(3000);`;

/** A receiver without the library's deduplication and answers. `seen` and `event` are there for what it does. */
const handWritten = (steps: string) =>
  program(
    `express.raw({ type: '*/*' }), async (req, res) => {
      try {
        const { event } = verify({ headers: req.headers, body: req.body, secret });
        ${steps}
        res.sendStatus(200);
      } catch {
        res.sendStatus(401);
      }
    }`,
    'const seen = new Set();',
  );

/** What doctor finds out about a program in a process of its own. */
async function examined(code: string, ...options: string[]) {
  writeFileSync(fileOfEffects(), '');
  const { port, terminal } = await programs.start(code);
  onTestFinished(async () => void (await terminal()));
  const url = `http://127.0.0.1:${port}/webhooks`;
  const ended = await cli.run(['doctor', url, '--only', PROBES.join(), ...options]);
  const verdicts = Object.fromEntries(ended.records.map(({ name, verdict }) => [name, verdict]));
  const named = (verdict: string) => PROBES.filter((name) => verdicts[name] === verdict);
  const effectsOf = (probe: string) => ended.records.find(({ name }) => name === probe)?.['effects'];
  return { ...ended, named, effectsOf };
}

/** Counts the effects of the event alone, and of all events. */
const observers = {
  'by the id of the event': () => `grep -c "$WEBHOOK_EVENT_ID" ${fileOfEffects()} || true`,
  'of all events': () => `wc -l < ${fileOfEffects()}`,
};

describe('an app of this library, examined by doctor', () => {
  it.each([
    [
      'that creates the receiver inside the route',
      '(req, res, next) => webhookHandler({ secret, on })(req, res, next)',
    ],
    ['with dedupe: false', 'webhookHandler({ secret, dedupe: false, on })'],
  ])('an app %s fails, with the cause and the fix', async (_, route) => {
    const { exitCode, named, records } = await examined(program(route));
    expect([exitCode, named('failed')]).toEqual([1, ONE_EVENT]);
    expect(records.find(({ name }) => name === 'duplicate')).toMatchObject({
      evidence: 'the handler ran 2 times for one event, as the answers say',
      diagnosis: 'handled_twice',
      fix: expect.stringMatching(
        /inside the route handler.+dedupe: false.+once, when the app starts.+\{ store, name \}/,
      ),
    });
    expect(readFileSync(fileOfEffects(), 'utf8').trim().split('\n')).toHaveLength(1 + 2 + 3 + 2 + 5);
  });

  it('a correct app passes, also with an observer', async () => {
    const code = program('webhookHandler({ secret, on })');
    const alone = await examined(code);
    expect([alone.exitCode, alone.named('passed')]).toEqual([0, PROBES]);
    const observed = await examined(code, '--observer', observers['of all events']());
    expect([observed.exitCode, observed.named('passed'), observed.effectsOf('same-moment')]).toEqual([
      0,
      PROBES,
      [1, 0],
    ]);
  });

  it('an app whose handler recognises the event itself passes with an observer', async () => {
    const once = '({ id }) => { if (!seen.has(id)) { seen.add(id); work({ id }); } }';
    const code = program(`webhookHandler({ secret, dedupe: false, on: { '*': ${once} } })`, 'const seen = new Set();');
    const { exitCode, named } = await examined(code, '--observer', observers['by the id of the event']());
    expect([exitCode, named('passed')]).toEqual([0, PROBES]);
  });
});

describe('a hand-written receiver, examined by doctor with an observer', () => {
  const right = 'if (!seen.has(event.id)) { seen.add(event.id); work(event); }';

  it('nothing is known without the observer', async () => {
    const { exitCode, named } = await examined(handWritten('work(event);'));
    expect([exitCode, named('unknown'), named('failed')]).toEqual([0, ONE_EVENT, []]);
  });

  it.each(Object.entries(observers))('a right one passes, counted %s', async (_, command) => {
    const { exitCode, named, effectsOf } = await examined(handWritten(right), '--observer', command());
    expect([exitCode, named('passed')]).toEqual([0, PROBES]);
    expect(PROBES.map(effectsOf)).toEqual([
      [1, 0],
      [1, 0, 0],
      [1, 1],
      [1, 0],
    ]);
  });

  it.each(Object.entries(observers))('one without deduplication fails, counted %s', async (_, command) => {
    const { exitCode, named, records, effectsOf } = await examined(
      handWritten('work(event);'),
      ...['--observer', command(), '--junit', 'doctor.xml'],
    );
    expect([exitCode, named('failed'), named('passed')]).toEqual([1, ONE_EVENT, ['shared-key']]);
    expect(PROBES.map(effectsOf)).toEqual([
      [1, 1],
      [1, 1, 1],
      [1, 1],
      [1, 4],
    ]);
    const evidence = 'the observer counted 1 effect of the event, and then 4 more';
    expect(records.find(({ name }) => name === 'same-moment')).toMatchObject({ evidence, diagnosis: 'counted_twice' });
    expect(readFileSync(join(cli.cwd, 'doctor.xml'), 'utf8')).toContain(
      `<failure message="${evidence}">Remember the id`,
    );
  });

  it('one that looks before it works, and notes the event after it, fails at the same moment alone', async () => {
    const steps = `if (!seen.has(event.id)) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      seen.add(event.id);
      work(event);
    }`;
    const { exitCode, named } = await examined(handWritten(steps), '--observer', observers['of all events']());
    expect([exitCode, named('failed')]).toEqual([1, ['same-moment']]);
  });

  it('one that looks at the Idempotency-Key has the warning of such an endpoint', async () => {
    const steps = right.replaceAll('event.id', "req.headers['idempotency-key']");
    const { exitCode, named } = await examined(handWritten(steps), '--observer', observers['by the id of the event']());
    expect([exitCode, named('warned'), named('failed')]).toEqual([0, ['duplicate-new-key', 'shared-key'], []]);
  });

  it('one that acknowledges events without an effect fails', async () => {
    const command = observers['of all events']();
    const { exitCode, named, records } = await examined(
      handWritten(''),
      '--observer',
      command,
      '--observer-wait',
      '1s',
    );
    expect([exitCode, named('failed')]).toEqual([1, PROBES]);
    expect(records[1]).toMatchObject({
      evidence: 'acknowledged, but the observer counted no effect',
      diagnosis: 'no_effect',
      effects: [0, 0],
    });
  });

  it('one that works after its answer passes where it works once, and fails where it works twice', async () => {
    const later = (steps: string) => handWritten(`res.on('close', () => setTimeout(() => { ${steps} }, 300));`);
    const command = observers['by the id of the event']();
    const options = ['--observer', command, '--observer-wait', '2s'];
    expect((await examined(later(right), ...options)).named('passed')).toEqual(PROBES);
    expect((await examined(later('work(event);'), ...options)).named('failed')).toEqual(ONE_EVENT);
  });
});
