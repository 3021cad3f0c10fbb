import { describe, expect, it } from 'vitest';
import { asFailure } from '../src/run.js';
import { shownBy } from './support/terminal.js';

describe('a fault of the command line itself', () => {
  const broken = (env: Record<string, string>) =>
    shownBy(['sign', '-'], {
      env,
      now: () => {
        throw new TypeError('no clock');
      },
    });
  const LINE = 'service-webhooks: no clock (a fault of this program; DEBUG=service-webhooks shows where)\n';

  it('an exception is one line with exit code 70', async () => {
    expect(await broken({})).toEqual({ exitCode: 70, stdout: '', stderr: LINE });
    expect((await broken({ DEBUG: 'something-else' })).stderr).toBe(LINE);
  });

  it('DEBUG=service-webhooks shows the stack', async () => {
    const { stderr } = await broken({ DEBUG: 'other,service-webhooks' });
    expect(stderr).toMatch(/^service-webhooks: no clock [^\n]+\nTypeError: no clock\n +at [\s\S]+\n$/);
  });

  it('the trace of a misspelt option has its name and never its value', async () => {
    const { stderr } = await shownBy(['sign', '--nonsense=whsec_dont_log_me'], { env: { DEBUG: 'service-webhooks' } });
    expect(stderr).toMatch(
      /^service-webhooks: unknown option '--nonsense'\. See --help\.\nCommanderError: unknown option '--nonsense'\. /,
    );
    expect(stderr).toMatch(/\n +at [^\n]+\n$/);
    expect(stderr).not.toContain('whsec');
  });

  it('the trace of an error has no control character of its message', async () => {
    const env = { DEBUG: 'service-webhooks' };
    const now = () => {
      throw new TypeError('a\u001b[2Jb\u009bc\rd\ne');
    };
    const { stderr } = await shownBy(['sign', '-'], { env, now });
    expect(stderr).toContain('\nTypeError: a\\u001b[2Jb\\u009bc\\rd\\ne\n    at ');
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('a thrown value that is no error is reported', () => {
    expect(asFailure('text')).toMatchObject({ exitCode: 70, message: expect.stringMatching(/^text \(a fault of/) });
  });
});

it.each([
  [['sign', '--nonsense.b'], "unknown option '--nonsense.b'. See --help."],
  [['--nonsense=value'], "unknown option '--nonsense'. See --help."],
  [['sign', '--secrt=whsec_x'], "unknown option '--secrt' (Did you mean --secret?) See --help."],
  [['sign', '--hel'], "unknown option '--hel' (Did you mean --help?) See --help."],
  [['sign', 'a', 'b'], "too many arguments for 'sign'. Expected 1 argument but got 2. See --help."],
  [['forward', '3000'], "unknown command 'forward'. See --help."],
  [['trigger'], "unknown command 'trigger'. See --help."],
  [['usage'], "unknown command 'usage'. See --help."],
  [['listen', '--cleanup'], "unknown option '--cleanup'. See --help."],
  [['lissen'], "unknown command 'lissen' (Did you mean listen?) See --help."],
  [
    ['send', 'stt.failed', '--webhook-id', 'a b'],
    'webhookId must be visible ASCII. Correct it, or leave it out for its default.',
  ],
])('the arguments %j are refused with an error of one line', async (args, line) => {
  expect(await shownBy(args)).toEqual({ exitCode: 2, stdout: '', stderr: `service-webhooks: ${line}\n` });
});
