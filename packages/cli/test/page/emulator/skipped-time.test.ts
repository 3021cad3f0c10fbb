import { describe, expect, it } from 'vitest';
import { emulated } from './emulated.js';

const MINUTE = 60_000;

describe('time that is skipped on the page', () => {
  /** Seconds since the delivery came, of each attempt, as the page shows them. */
  async function afterAdvancing(ms: number, speed = 1) {
    const { emulator, source } = await emulated({ clock: 'real', speed, fails: () => true });
    await emulator.emit('stt.completed');
    await emulator.settled();
    await source.actions.advance?.({ ms });
    const [row] = source.snapshot().deliveries;
    const { attempts, delivery } = source.delivery(row?.id ?? '') ?? expect.fail();
    const since = (at: number) => Math.round((at - delivery.createdAt) / 1000);
    return { emulator, source, attempts, delivery, since };
  }

  it('each attempt has the time when it was due', async () => {
    const { attempts, since, delivery, source } = await afterAdvancing(6 * 60 * MINUTE);
    const due = [0, 30, 150, 750, 4_350, 18_750];
    const shown = attempts.map(({ at }) => since(at));
    expect(shown.length).toBe(6);
    for (const [index, seconds] of due.entries()) {
      expect(Math.abs((shown[index] ?? 0) - seconds), `attempt ${index + 1}`).toBeLessThan(20); // the machine's own time
    }
    expect(delivery.state).toBe('dead');
    const { overview } = source.snapshot();
    expect(overview.ahead).toBe(6 * 60 * MINUTE);
    expect(since(overview.now)).toBeGreaterThanOrEqual(6 * 60 * 60);
  });

  it('signatures keep the time of the machine, so that the app accepts them', async () => {
    const { attempts, source, emulator } = await afterAdvancing(60 * MINUTE);
    const [first, second] = await Promise.all(
      attempts.map(async ({ id }) => (await source.attempt(id)) ?? expect.fail()),
    );
    expect(first?.sentAt).toBeUndefined();
    const real = emulator.attempts.list()[1]?.at ?? 0;
    expect(second?.sentAt).toBe(real);
    expect((second?.at ?? 0) - real).toBeGreaterThan(20_000);
    expect(second?.verdict.verdict).toBe('accepted');
    expect(source.message(second?.id ?? '')?.at).toBe(real);
  });

  it('deliveries that come later have the skipped time added', async () => {
    const { source, emulator, delivery } = await afterAdvancing(10 * MINUTE);
    await source.actions.send?.({ type: 'stt.failed' });
    await emulator.settled();
    const later = source.snapshot().deliveries.find(({ type }) => type === 'stt.failed') ?? expect.fail();
    expect(later.createdAt - delivery.createdAt).toBeGreaterThanOrEqual(10 * MINUTE);
    const [attempt] = source.delivery(later.id)?.attempts ?? [];
    expect((attempt?.at ?? 0) - later.createdAt).toBeLessThan(20_000);
    expect((later.nextAt ?? 0) - later.createdAt).toBeGreaterThan(20_000);
    const { deliveries } = source.snapshot();
    await source.actions.replay?.({ delivery: deliveries[0]?.id ?? '', exact: true });
    const replayed = source.delivery(deliveries[0]?.id ?? '')?.attempts.at(-1);
    expect([replayed?.kind, (replayed?.at ?? 0) >= later.createdAt]).toEqual(['replay', true]);
  });

  it('at speed 60, the same advance skips a sixtieth of the time', async () => {
    const { source, attempts } = await afterAdvancing(10 * MINUTE, 60);
    expect(attempts).toHaveLength(3);
    expect(source.snapshot().overview.ahead).toBe(10_000);
  });

  it('no time can be skipped, and a negative time is refused', async () => {
    const { source } = await emulated({ clock: 'real' });
    await source.actions.advance?.({ ms: 0 });
    expect(source.snapshot().overview.ahead).toBeUndefined();
    for (const ms of [-1, Number.NaN]) await expect(source.actions.advance?.({ ms })).rejects.toThrow('ms must be');
  });

  it('time passes also while an endpoint is paused', async () => {
    const { source, emulator, endpoint } = await emulated({ clock: 'real' });
    emulator.endpoints.pause(endpoint.id);
    await emulator.emit('stt.completed');
    await source.actions.advance?.({ ms: 60 * MINUTE });
    expect(source.snapshot().overview.ahead).toBe(60 * MINUTE);
    expect(emulator.attempts.list()).toEqual([]);
  });
});
