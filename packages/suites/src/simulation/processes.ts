import { AsyncLocalStorage } from 'node:async_hooks';

/** A process of the simulated world. Once it is killed, nothing more of it runs that the world could notice. */
export interface SimulatedProcess {
  readonly name: string;
  /** How far its clock is ahead of the world's, in milliseconds. */
  readonly skewMs: number;
  readonly isAlive: boolean;
  readonly isPaused: boolean;
  /** Runs a call as a part of the process. */
  run<T>(call: () => T): T;
  /** Runs a call that something outside has caused: later where the process is paused, and never once it is killed. */
  resume(call: () => void): void;
  /** Ends the process at once, as `kill -9` does. */
  kill(): void;
  /** Lets nothing of the process run until `wake`, as `SIGSTOP` or a long garbage collection does. */
  pause(): void;
  wake(): void;
  /** Calls a function when the process is killed, or at once where it is dead. */
  onKilled(call: () => void): void;
}

const current = new AsyncLocalStorage<SimulatedProcess | undefined>();

/** Returns the process that the running code is a part of; undefined for code of the world itself. */
export function currentProcess(): SimulatedProcess | undefined {
  return current.getStore();
}

/** Runs a call as a part of the world, not of the process that causes it. */
export function outsideOfProcesses<T>(call: () => T): T {
  return current.run(undefined, call);
}

export interface ProcessParts {
  name: string;
  skewMs: number;
  /** Calls a function in a later step of the world. */
  later(call: () => void): void;
}

export function createProcess({ name, skewMs, later }: ProcessParts): SimulatedProcess {
  let isAlive = true;
  let isPaused = false;
  let waiting: (() => void)[] = [];
  const killed: (() => void)[] = [];

  const process: SimulatedProcess = {
    name,
    skewMs,
    get isAlive() {
      return isAlive;
    },
    get isPaused() {
      return isPaused;
    },
    run: (call) => current.run(process, call),
    resume(call) {
      if (!isAlive) return;
      if (isPaused) waiting.push(call);
      else process.run(call);
    },
    kill() {
      if (!isAlive) return;
      isAlive = false;
      waiting = [];
      for (const call of killed) outsideOfProcesses(call);
    },
    pause() {
      isPaused = true;
    },
    wake() {
      isPaused = false;
      const woken = waiting;
      waiting = [];
      // One after the other, so that nothing of the rest runs where one of them is the last that the process does.
      for (const call of woken) later(() => process.resume(call));
    },
    onKilled(call) {
      if (isAlive) killed.push(call);
      else call();
    },
  };
  return process;
}
