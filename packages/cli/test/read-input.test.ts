import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { failureOf, failureOfPromise } from '../../../test/support/failures.js';
import { createReadInput } from '../src/read-input.js';

const MIB = 1024 * 1024;

function reading(stdin: Readable & { isTTY?: boolean } = Readable.from([]), controller = new AbortController()) {
  return createReadInput({ stdin: () => stdin, signal: controller.signal });
}

/** So many pieces of a MiB each, made as they are read. */
function pieces(count: number): Readable {
  const piece = Buffer.alloc(MIB);
  return Readable.from(
    (function* () {
      for (let made = 0; made < count; made += 1) yield piece;
    })(),
  );
}

describe('the file or stdin that a command reads', () => {
  it('a file is read byte by byte', async () => {
    const fixture = new URL('../../../package.json', import.meta.url);
    expect(JSON.parse(String(await reading()(fixture.pathname)))).toHaveProperty('name', 'service-webhooks');
  });

  it('all of stdin is read', async () => {
    const read = reading(Readable.from([Buffer.from([0, 255]), Buffer.from([10])]));
    expect([...(await read('-'))]).toEqual([0, 255, 10]);
  });

  it('reading stdin twice is refused', async () => {
    const read = reading();
    await read('-');
    expect(failureOf(() => read('-'))).toMatch(/^2: stdin can be read only once/);
  });

  it('a stdin that is a terminal is refused, not waited for', () => {
    const read = reading(Object.assign(Readable.from([]), { isTTY: true }));
    expect(failureOf(() => read('-'))).toMatch(/^2: stdin is a terminal/);
  });

  it('a missing file is refused', async () => {
    expect(await failureOfPromise(reading()('/no/such/file'))).toMatch(/^3: \/no\/such\/file: there is no such file/);
  });

  it('64 MiB are read, and a larger input is refused', async () => {
    expect((await reading(pieces(64))('-')).length).toBe(64 * MIB);
    const endless = pieces(Number.POSITIVE_INFINITY);
    expect(await failureOfPromise(reading(endless)('-'))).toMatch(/^3: stdin: over 64 MiB/);
    expect(endless.destroyed).toBe(true);
  });

  it('an error while stdin is read is a failure with exit code 3', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('broken pipe'));
      },
    });
    expect(await failureOfPromise(reading(broken)('-'))).toBe('3: stdin: broken pipe');
  });

  it('an abort ends the wait for stdin', async () => {
    const controller = new AbortController();
    const silent = new Readable({ read() {} });
    const read = reading(silent, controller)('-');
    controller.abort(new Error('Ctrl+C'));
    await expect(read).rejects.toThrow('Ctrl+C');
  });
});
