import { createEmulator, type Faults } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runScenarios, type ScenarioName } from '../../../src/commands/dev/scenarios.js';

/** Plays a scenario on the virtual clock, against an app that acknowledges everything. */
async function play(name: ScenarioName, faults: Faults = {}) {
  const emulator = createEmulator({ seed: 42, faults, fetch: async () => new Response() });
  onTestFinished(() => emulator.close());
  emulator.endpoints.create({ url: 'https://app.example/webhooks' });
  const over = runScenarios(emulator, [name], faults);
  await emulator.settled();
  await emulator.runUntilIdle();
  await over;
  await emulator.runUntilIdle();
  const attempts = emulator.attempts.list().map(({ request, ...attempt }) => {
    return { ...attempt, event: JSON.parse(Buffer.from(request.body).toString() || '{}') };
  });
  return { emulator, attempts };
}

describe('the scenarios of dev', () => {
  it('job-retried is a failure and then a completion of one job', async () => {
    const { attempts } = await play('job-retried');
    expect(attempts.map(({ type }) => type)).toEqual(['generation.failed', 'generation.completed']);
    const [failed, completed] = attempts.map(({ event }) => event);
    expect(completed.jobId).toBe(failed.jobId);
    expect(completed.data.clipId).toBe(failed.jobId);
    expect(completed.id).not.toBe(failed.id);
  });

  it('out-of-order is a completion before an earlier failure of the same job', async () => {
    const { attempts } = await play('out-of-order');
    const [completed, failed] = attempts.map(({ event }) => event);
    expect([completed.type, failed.type]).toEqual(['generation.completed', 'generation.failed']);
    expect(failed.jobId).toBe(completed.jobId);
    expect(Date.parse(failed.timestamp)).toBeLessThan(Date.parse(completed.timestamp));
  });

  it('duplicate is one event twice', async () => {
    const { attempts } = await play('duplicate');
    expect(attempts.map(({ duplicate }) => duplicate).toSorted()).toEqual([false, true]);
    expect(new Set(attempts.map(({ eventId }) => eventId)).size).toBe(1);
  });

  it.each<[ScenarioName, string, number, string]>([
    ['outage', 'delivered', 4, '2xx'],
    ['dead', 'dead', 6, 'connection_error'],
  ])('the scenario %s ends with a %s delivery after %i attempts', async (name, state, count, reason) => {
    const { attempts, emulator } = await play(name);
    expect(attempts).toHaveLength(count);
    expect(attempts.at(-1)).toMatchObject({ state, reason, number: count });
    expect(attempts.slice(0, 3).map(({ faults }) => faults)).toEqual([['reset'], ['reset'], ['reset']]);
    await emulator.emit('stt.failed'); // and nothing strikes any more
    await emulator.settled();
    expect(emulator.attempts.list().at(-1)).toMatchObject({ state: 'delivered', faults: [] });
  });

  it('never-comes is the completion of a dubbing job that is lost, and the next event is delivered', async () => {
    const { attempts, emulator } = await play('never-comes');
    expect(attempts).toEqual([]);
    expect(emulator.deliveries.list()).toMatchObject([
      { type: 'dubbing.completed', jobId: 'dub_scenario_1', state: 'lost' },
    ]);
    await emulator.emit('stt.failed');
    await emulator.settled();
    expect(emulator.attempts.list()).toMatchObject([{ type: 'stt.failed', state: 'delivered' }]);
  });

  it('a scenario whose event the fault never loses is over all the same', async () => {
    const { emulator } = await play('outage', { never: 1 });
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'lost' }]);
  });

  it('burst is fifty events', async () => {
    const { emulator } = await play('burst');
    expect(emulator.deliveries.list({ state: 'delivered' })).toHaveLength(50);
  });

  it('the faults of --fault strike again after a scenario', async () => {
    const { emulator } = await play('duplicate', { corrupt: 1 });
    await emulator.emit('stt.failed');
    await emulator.settled();
    expect(emulator.attempts.list().at(-1)?.faults).toEqual(['corrupt']);
  });
});
