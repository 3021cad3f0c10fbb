import { describe, expect, it } from 'vitest';
import { asFailure } from '../../src/cli/run.js';
import { shownBy } from '../support/terminal.js';

describe('what goes wrong in the program itself', () => {
  const broken = (env: Record<string, string>) =>
    shownBy(['sign', '-'], {
      env,
      now: () => {
        throw new TypeError('no clock');
      },
    });
  const LINE = 'service-webhooks: no clock (a fault of this program; DEBUG=service-webhooks shows where)\n';

  it('is one line, and no fault of whoever uses it', async () => {
    expect(await broken({})).toEqual({ exitCode: 70, stdout: '', stderr: LINE });
    expect((await broken({ DEBUG: 'something-else' })).stderr).toBe(LINE);
  });

  it('is shown with where it was, where that is asked for', async () => {
    const { stderr } = await broken({ DEBUG: 'other,service-webhooks' });
    expect(stderr).toMatch(/^service-webhooks: no clock [^\n]+\nTypeError: no clock\n +at [\s\S]+\n$/);
  });

  it('is said whatever was thrown', () => {
    expect(asFailure('text')).toMatchObject({ exitCode: 70, message: expect.stringMatching(/^text \(a fault of/) });
  });
});

describe('what is wrong with a command line', () => {
  it.each([
    [['sign', '--nonsense.b'], "unknown option '--nonsense.b'. See --help."],
    [['--nonsense=value'], "unknown option '--nonsense'. See --help."],
    [['sign', '--hel'], "unknown option '--hel' (Did you mean --help?) See --help."],
    [['sign', 'a', 'b'], "too many arguments for 'sign'. Expected 1 argument but got 2. See --help."],
    [['lissen'], "unknown command 'lissen' (Did you mean listen?) See --help."],
    [['send', 'stt.failed', '--webhook-id', 'a b'], 'webhookId must be visible ASCII. Correct it.'],
  ])('is one line: %j', async (args, line) => {
    expect(await shownBy(args)).toEqual({ exitCode: 2, stdout: '', stderr: `service-webhooks: ${line}\n` });
  });
});
