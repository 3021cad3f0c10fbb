import { verify } from 'service-webhooks';
import { createEmulator, type Emulator, type EmulatorOptions, type Faults } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { startReceiver, startServer } from './receivers.js';

const START = Date.UTC(2026, 6, 11, 9);

let emulator: Emulator;
afterEach(() => emulator.close());

/** An emulator with one receiver, which answers 200, and one event that was emitted. */
async function withFaults(faults: Faults, options: EmulatorOptions = {}) {
  emulator = createEmulator({ allowLoopback: true, startAt: START, seed: 'faults', faults, ...options });
  const receiver = await startReceiver();
  const { signingSecret } = emulator.endpoints.create({ url: receiver.url });
  await emulator.emit('stt.completed');
  return { ...receiver, secret: signingSecret };
}
const ends = () => emulator.attempts.list().map(({ reason, endedAt }) => [reason, endedAt - START]);

describe('faults of an emulator', () => {
  it('with drop nothing arrives, and the 20 s pass', async () => {
    const { arrived } = await withFaults({ drop: { rate: 1, times: 1 } });
    await emulator.advance(20_000);
    expect([arrived.length, ends()]).toEqual([0, [['timeout', 20_000]]]);
    await emulator.runUntilIdle();
    expect([arrived.length, emulator.totals.delivered]).toEqual([1, 1]);
  });

  it('with delay the answer arrives later and still in time', async () => {
    await withFaults({ delay: { rate: 1, ms: 19_000 } });
    await emulator.advance(19_000);
    expect(ends()).toEqual([['2xx', 19_000]]);
  });

  it('with a delay over 20 s the attempt fails, although the receiver has done its work', async () => {
    const { arrived } = await withFaults({ delay: { rate: 1, ms: 20_001, times: 1 } });
    await emulator.runUntilIdle();
    expect(emulator.attempts.list()).toMatchObject([
      { reason: 'timeout', answer: { status: 200 }, endedAt: START + 20_000 },
      { reason: '2xx' },
    ]);
    expect(arrived).toHaveLength(2);
  });

  it('with duplicate the same request arrives twice, and the first answer counts', async () => {
    const { arrived } = await withFaults({ duplicate: { rate: 1, afterMs: 1_500 } });
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(2);
    expect(arrived[1]?.headers).toEqual(arrived[0]?.headers);
    expect(arrived[1]?.body).toEqual(arrived[0]?.body);
    expect(emulator.attempts.list().map(({ duplicate, at }) => [duplicate, at - START])).toEqual([
      [false, 0],
      [true, 1_500],
    ]);
    expect(emulator.totals).toMatchObject({ attempts: 2, duplicates: 1, delivered: 1 });
  });

  it('with reorder events overtake each other', async () => {
    const { arrived } = await withFaults({ reorder: { rate: 1, withinMs: 60_000 } });
    for (let i = 0; i < 9; i += 1) await emulator.emit('stt.completed', { id: `evt_${i}` });
    await emulator.runUntilIdle();
    const ids = arrived.map(({ body }) => JSON.parse(body.toString()).id).filter((id) => id.length === 5);
    expect([...ids].sort()).toEqual(Array.from({ length: 9 }, (_, i) => `evt_${i}`));
    expect(ids).not.toEqual([...ids].sort());
  });

  it('with truncate the end of the body is missing, and the signature does not match', async () => {
    const { arrived, secret } = await withFaults({ truncate: { rate: 1, times: 1 } });
    await emulator.settled();
    const [{ headers, body } = { headers: {}, body: Buffer.from('') }] = arrived;
    const sent = emulator.attempts.list()[0]?.request.body ?? [];
    expect(Buffer.from(sent)).toEqual(body);
    expect(headers['content-length']).toBe(String(body.length));
    expect(() => verify({ headers, body, secret, now: emulator.now })).toThrow('signature_mismatch');
  });

  it('with corrupt one bit of the body is flipped', async () => {
    const [good, bad] = [await withFaults({}), await withFaults({ corrupt: 1 })];
    await emulator.settled();
    const [a, b] = [good, bad].map(({ arrived }) => arrived[0]?.body ?? Buffer.from(''));
    const bits = [...(a ?? [])].map((byte, i) => (byte ^ (b?.[i] ?? 0)).toString(2).replaceAll('0', '').length);
    expect(a?.length).toBe(b?.length);
    expect(bits.reduce((sum, n) => sum + n)).toBe(1);
  });

  it('with slowBody the complete body arrives in pieces', async () => {
    const { arrived, secret } = await withFaults({ slowBody: { rate: 1, ms: 8_000, pieces: 4 } });
    await emulator.runUntilIdle();
    const [{ headers, body } = { headers: {}, body: '' }] = arrived;
    expect(verify({ headers, body, secret, now: emulator.now }).event.type).toBe('stt.completed');
    expect(ends()).toEqual([['2xx', 8_000]]);
  });

  it('with a slowBody over 20 s the attempt times out', async () => {
    await withFaults({ slowBody: { rate: 1, ms: 40_000 } });
    await emulator.advance(20_000);
    expect(ends()).toEqual([['timeout', 20_000]]);
  });

  it('with a reset in the request it never arrives completely', async () => {
    await withFaults({ reset: { rate: 1, at: 'request' } });
    await emulator.settled();
    expect(emulator.attempts.list()).toMatchObject([{ reason: 'connection_error', answer: undefined }]);
  });

  it('with a reset at the answer the receiver has done its work', async () => {
    const { arrived } = await withFaults({ reset: { rate: 1, at: 'answer' } });
    await emulator.settled();
    expect(arrived).toHaveLength(1);
    expect(emulator.attempts.list()).toMatchObject([{ reason: 'connection_error', answer: { status: 200 } }]);
  });

  it.each(['drop', 'delay', 'duplicate', 'reorder', 'truncate', 'corrupt', 'slowBody', 'reset'] as const)(
    'an attempt in the same process names the fault %s',
    async (name) => {
      await withFaults({ [name]: 1 }, { fetch: async (request) => new Response(await request.text().catch(() => '')) });
      await emulator.advance(25_000);
      expect(emulator.attempts.list()[0]?.faults).toEqual([name]);
    },
  );

  it('with slowBody and delay an answer may arrive while the body is still being sent', async () => {
    const faults = { slowBody: { rate: 1, ms: 200, pieces: 2 }, delay: { rate: 1, ms: 10 } };
    emulator = createEmulator({ allowLoopback: true, clock: 'real', faults });
    const url = await startServer((_, response) => response.writeHead(401).end());
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    const { value } = await emulator.attempts[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ reason: 'non-2xx', answer: { status: 401 } });
    await emulator.settled();
  });

  it('setFaults starts and ends faults while the emulator runs', async () => {
    await withFaults({});
    await emulator.settled();
    emulator.setFaults({ reset: 1 });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.setFaults({});
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.attempts.list().map(({ outcome }) => outcome)).toEqual(['acknowledged', 'failed', 'acknowledged']);
  });
});

describe('rate and seed', () => {
  async function run(faults: Faults, seed: string) {
    const fetch = () => new Response(null, { status: 500 });
    emulator = createEmulator({ startAt: START, seed, faults, fetch });
    emulator.endpoints.create({ url: 'https://app.example/' });
    for (let i = 0; i < 300; i += 1) await emulator.emit('stt.completed');
    await emulator.settled();
    const struck = emulator.attempts
      .list()
      .map(({ deliveryId, number, faults }) => [deliveryId, number, faults.join()]);
    await emulator.close();
    return struck.sort();
  }
  const faults: Faults = { corrupt: 0.2, duplicate: 0.3, reset: 0.1 };

  it('the same rate and seed strike the same attempts', async () => {
    const [first, second, other] = [await run(faults, 'a'), await run(faults, 'a'), await run(faults, 'b')];
    expect(second).toEqual(first);
    expect(other.map(([, , names]) => names)).not.toEqual(first.map(([, , names]) => names));
  });

  it('a fault strikes at about its rate', async () => {
    const struck = (await run({ corrupt: 0.25 }, 'c')).filter(([, , names]) => names !== '').length;
    expect(struck).toBeGreaterThan(300 * 0.18);
    expect(struck).toBeLessThan(300 * 0.32);
  });

  it('a seed of its own for one fault leaves the others unchanged', async () => {
    const names = (struck: Awaited<ReturnType<typeof run>>) =>
      struck.map(([, , found]) => String(found).includes('corrupt'));
    const both = await run({ corrupt: 0.2, delay: { rate: 0.2, seed: 'x', ms: 0 } }, 'd');
    expect(names(both)).toEqual(names(await run({ corrupt: 0.2 }, 'd')));
  });
});

describe('invalid faults', () => {
  it.each([
    [{ corrupt: 2 }, 'faults.corrupt.rate must be from 0 to 1'],
    [{ corrupt: Number.NaN }, 'faults.corrupt.rate must be from 0 to 1'],
    [{ delay: { rate: 1, ms: -1 } }, 'faults.delay.ms must be 0 or more'],
    [{ drop: { rate: 1, times: 0.5 } }, 'faults.drop.times must be a positive integer'],
    [{ slowBody: { rate: 1, pieces: 0 } }, 'faults.slowBody.pieces must be a positive integer'],
    [{ reset: { rate: 1, at: 'end' } }, 'faults.reset.at must be'],
    [{ lose: 1 }, "Unknown option 'lose' in faults. It takes drop, delay"],
    [null, 'faults must be an object'],
  ])('the faults %j are refused', async (faults, message) => {
    await withFaults({});
    expect(() => emulator.setFaults(faults as unknown as Faults)).toThrow(message);
  });
});
