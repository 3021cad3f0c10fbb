import { describe, expect, it } from 'vitest';
import { createGate, mustReject, until } from '../src/waiting.js';

describe('until', () => {
  it('the first result that holds is returned, after calls that reject', async () => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls;
    };
    await expect(until(20_000, 'three calls', call, (value) => value === 3)).resolves.toBe(3);
  });

  it.each([
    ['a result', () => 'red', 'it is green, within 20 ms, got red'],
    ['an error', () => Promise.reject(new Error('away')), 'it is green, within 20 ms, got Error: away'],
  ])('the complaint names the last thing that was seen: %s', async (_, call, message) => {
    await expect(until<string>(20, 'it is green', call, (value) => value === 'green')).rejects.toThrow(message);
  });
});

describe('mustReject', () => {
  it('a call that rejects with an Error passes', async () => {
    await expect(mustReject(20_000, 'a put', () => Promise.reject(new Error('away')))).resolves.toBeUndefined();
  });

  it.each([
    ['answered', async () => 'known'],
    ['rejected with no Error', () => Promise.reject('away')],
    ['hangs', () => new Promise(() => {})],
  ])('the complaint names any other end: %s', async (found, call) => {
    await expect(mustReject(20, 'a put', call)).rejects.toThrow(`a put rejects with an Error, got ${found}`);
  });
});

it('a call that hangs keeps the process alive until the complaint, under a runner that waits for nothing else', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const complaint = mustReject(20, 'a put', () => new Promise(() => {}));
  expect(timers()).toBe(before + 1);
  await expect(complaint).rejects.toThrow('hangs');
});

it('a gate lets nothing through before it is opened', async () => {
  const { open, opened } = createGate();
  let isThrough = false;
  const through = opened.then(() => {
    isThrough = true;
  });
  await Promise.resolve();
  expect(isThrough).toBe(false);
  open();
  await through;
  expect(isThrough).toBe(true);
});
