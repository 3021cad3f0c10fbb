import { expect, it, vi } from 'vitest';
import type { Change } from '../../../src/page/page-source.js';
import { type EmulatedOptions, emulated } from './emulated.js';

/** An emulated source that is watched: `look` gives what the watcher is told the next time the emulator is looked at. */
async function watched(options?: EmulatedOptions) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  const all = await emulated(options);
  const changes: Change[] = [];
  const stop = all.source.watch((change) => void changes.push(change));
  const look = () => {
    vi.advanceTimersByTime(100);
    return changes.splice(0);
  };
  const emit = async (type: string) => {
    await all.emulator.emit(type);
    await all.emulator.settled();
  };
  return { ...all, stop, look, emit };
}

it('a watcher of an emulator gets the present state, then only changes', async () => {
  const { look, emit, endpoint } = await watched();
  expect(look()).toMatchObject([{ overview: { endpoints: [{ id: endpoint.id }] }, deliveries: [], removed: [] }]);
  expect(look()).toEqual([]);
  await emit('stt.completed');
  expect(look()).toMatchObject([{ deliveries: [{ type: 'stt.completed', state: 'delivered' }] }]);
  expect(look()).toEqual([]);
});

it('a watcher gets an advanced clock of the emulator, and not a running one', async () => {
  const virtual = await watched();
  virtual.look();
  await virtual.emulator.advance(5_000);
  expect(virtual.look()).toMatchObject([{ overview: { now: virtual.emulator.now(), speed: 0 }, deliveries: [] }]);

  const real = await watched({ clock: 'real' });
  expect(real.look()).toMatchObject([{ overview: { now: real.emulator.now(), speed: 1 } }]);
  expect(real.look()).toEqual([]);
});

it('a watcher gets the speed of the clock of the emulator', async () => {
  const { look } = await watched({ clock: 'real', speed: 60 });
  expect(look()).toMatchObject([{ overview: { speed: 60 } }]);
});

it('a watcher gets a new delivery together with the id of the replaced one', async () => {
  const { look, emit } = await watched({ keep: { delivered: 1 } });
  await emit('stt.completed');
  const id = look()[0]?.deliveries[0]?.id;
  await emit('stt.failed');
  expect(look()).toMatchObject([{ deliveries: [{ type: 'stt.failed' }], removed: [id] }]);
});

it('a watcher gets a changed delivery again, without the others', async () => {
  let fails = true;
  const { look, emit, emulator } = await watched({ fails: () => fails });
  await emit('stt.failed');
  fails = false;
  await emit('stt.completed');
  expect(look()).toMatchObject([{ deliveries: [{ state: 'waiting' }, { state: 'delivered' }] }]);
  await emulator.advance(30_000);
  expect(look()).toMatchObject([{ deliveries: [{ type: 'stt.failed', state: 'delivered' }], removed: [] }]);
});

it('a watcher gets the state at once after an action, even a refused one', async () => {
  const { source, endpoint, look, emit } = await watched();
  const told: Change[] = [];
  source.watch((change) => void told.push(change));
  look();
  await source.actions.pause?.({ endpoint: endpoint.id });
  expect(told.at(-1)?.overview.endpoints[0]?.state).toBe('paused');
  await emit('stt.completed');
  await expect(source.actions.pause?.({ endpoint: 'wh_none' })).rejects.toThrow('does not exist');
  expect(told.at(-1)?.deliveries).toMatchObject([{ state: 'waiting' }]);
});

it('a watcher that has stopped gets nothing, and the last one stops the timer', async () => {
  const { source, stop, look, emit } = await watched();
  const timers = vi.getTimerCount();
  const told: Change[] = [];
  const stopOther = source.watch((change) => void told.push(change));
  expect(vi.getTimerCount()).toBe(timers);
  stop();
  expect(look()).toEqual([]);
  expect(told).toHaveLength(1);
  stopOther();
  expect(vi.getTimerCount()).toBe(timers - 1);
  await emit('stt.completed');
  source.watch((change) => void told.push(change));
  look();
  expect(told).toHaveLength(2);
});
