import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { workerShell } from '../../src/queue/worker-shell.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a worker of any engine', () => {
  it('the log has each failing operation once a minute, and then a count', () => {
    const lines: string[] = [];
    const logger = { error: () => {}, warn: (line: string) => void lines.push(line) };
    const { log } = workerShell({ on: {}, logger });
    for (let i = 0; i < 50; i += 1) log.warn('queue_error:take', 'The worker tries again.');
    log.warn('queue_error:purge', 'Old jobs could not be removed.');
    expect(lines).toEqual([
      'service-webhooks: The worker tries again. (queue_error:take)',
      'service-webhooks: Old jobs could not be removed. (queue_error:purge)',
    ]);
    vi.advanceTimersByTime(60_000);
    expect(lines[2]).toBe('service-webhooks: 49 more in a minute. (queue_error:take)');
  });

  it('an interval of 90 days has the longest time that a timer can have', () => {
    const { every, worker } = workerShell({ on: {}, logger: false });
    const call = vi.fn();
    every(90 * 86_400_000, call);
    vi.advanceTimersByTime(1_000);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(2 ** 31 - 1_002);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(call).toHaveBeenCalledOnce();
    void worker(async () => {}).stop();
  });

  it('a stop aborts the jobs that run too long, and returns those of no other worker', async () => {
    const { running, worker } = workerShell<string>({ on: {}, logger: false });
    const signals: AbortSignal[] = [];
    const never = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<void>(() => {});
    };
    for (const job of ['lost', 'own']) void running.run(job, never);
    void running.run('ended', async () => {});
    running.abort(['lost']);
    const left: string[] = [];
    const { stop } = worker(async (timeoutMs) => void left.push(...(await running.drain(timeoutMs))));
    const stopped = Promise.all([stop({ timeoutMs: 50 }), stop()]);
    await vi.advanceTimersByTimeAsync(49);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(1);
    await stopped;
    expect(left).toEqual(['own']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});
