/** The jobs that a worker runs, for a graceful stop. */
export interface RunningJobs {
  /** Runs a job, which must not reject. Its signal is aborted once the job is no longer this worker's. */
  run(job: (signal: AbortSignal) => Promise<void>): void;
  /** Aborts every job, because the engine has removed the jobs from this worker. */
  abort(): void;
  /** Resolves when all have ended, or after `timeoutMs`, when their signals are aborted. */
  drain(timeoutMs: number): Promise<void>;
}

/** How long a stopping worker waits for its handlers. */
export const STOP_TIMEOUT_MS = 10_000;

export function runningJobs(): RunningJobs {
  const running = new Map<AbortController, Promise<void>>();

  function abort(): void {
    for (const controller of running.keys()) controller.abort();
  }

  return {
    run(job) {
      const controller = new AbortController();
      const ended = job(controller.signal).finally(() => running.delete(controller));
      running.set(controller, ended);
    },

    abort,

    async drain(timeoutMs) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([Promise.all(running.values()), timeout]);
      clearTimeout(timer);
      abort();
    },
  };
}
