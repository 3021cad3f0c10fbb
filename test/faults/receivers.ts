import { buildProgram } from '../support/processes.js';
import type { Point, Said, Task } from './receiver-process.js';

/** A receiver in a process of its own. */
export interface RunningReceiver {
  url: string;
  /** Until so many deliveries are at a point. */
  stopped(count?: number): Promise<Point>;
  /** Until one of these comes, and with what. */
  outcome(kind: string): Promise<Extract<Said, { outcome: string }>>;
  /** On from the point where it stopped. */
  go(): void;
  /** As a process is that gets no processor. */
  freeze(): void;
  thaw(): void;
  /** As `kill -9` does. */
  kill(): Promise<void>;
}

export interface Receivers {
  start(task: Task): Promise<RunningReceiver>;
  killAll(): Promise<void>;
  remove(): void;
}

export async function buildReceivers(): Promise<Receivers> {
  const program = await buildProgram('test/faults/receiver-process.ts');
  const running = new Set<RunningReceiver>();

  async function start(task: Task): Promise<RunningReceiver> {
    const child = program.start(task);
    const waiting: { matches(said: Said): boolean; resolve(said: Said): void }[] = [];
    const unheard: Said[] = [];
    const next = <S extends Said>(matches: (said: Said) => said is S) =>
      new Promise<S>((resolve, reject) => {
        const heard = unheard.findIndex(matches);
        if (heard >= 0) return resolve(unheard.splice(heard, 1)[0] as S);
        waiting.push({ matches, resolve: resolve as (said: Said) => void });
        ended.catch(reject);
      });
    const listen = async (): Promise<never> => {
      for (;;) {
        const said = (await child.next()) as Said;
        const index = waiting.findIndex(({ matches }) => matches(said));
        if (index < 0) unheard.push(said);
        else waiting.splice(index, 1)[0]?.resolve(said);
      }
    };
    const ended = listen();
    ended.catch(() => {}); // what waits for something rejects instead

    const { port, pid } = await next((said) => 'port' in said);
    const receiver: RunningReceiver = {
      url: `http://127.0.0.1:${port}`,
      async stopped(count = 1) {
        let { at } = await next((said) => 'at' in said);
        for (let stopped = 1; stopped < count; stopped += 1) ({ at } = await next((said) => 'at' in said));
        return at;
      },
      outcome: (kind) =>
        next((said): said is Extract<Said, { outcome: string }> => 'outcome' in said && said.outcome === kind),
      go: child.go,
      freeze: () => process.kill(pid, 'SIGSTOP'),
      thaw: () => process.kill(pid, 'SIGCONT'),
      async kill() {
        running.delete(receiver);
        await child.kill();
      },
    };
    running.add(receiver);
    return receiver;
  }

  const killAll = async () => {
    await Promise.all([...running].map((receiver) => receiver.kill()));
  };
  return { start, killAll, remove: program.remove };
}
