import { severalProcesses } from '../dedupe/several-processes.js';
import type { Log, Logger } from './log.js';
import type { ReceiverOptions } from './options.js';

/** The loggers that have the warning about production: an app with several receivers gets it once. */
const warned = new WeakSet<Logger>();

/** Warns of the memory store next to other processes, and in production unless it was chosen. */
export function warnAboutMemoryStore(log: Log, { dedupe, logger }: ReceiverOptions): void {
  const runner = severalProcesses();
  if (runner !== undefined) {
    const problem = `${runner} runs several processes, and the memory store of each knows only its own events: a retry may run a handler twice.`;
    log.warn('several_processes', `${problem} Pass a shared store as dedupe: { store, name }.`);
    return;
  }
  const isChosen = typeof dedupe === 'object' && dedupe.store !== undefined;
  const user = logger ?? console;
  if (isChosen || user === false || !isProduction() || warned.has(user)) return;
  warned.add(user);
  const problem =
    'NODE_ENV is production, and the receiver remembers handled events only in memory: after a restart, a retry may run a handler again.';
  const fix =
    'Pass a persistent store as dedupe: { store, name }, or dedupe: { store: memoryStore() } if memory is enough.';
  log.warn('memory_store', `${problem} ${fix}`);
}

function isProduction(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.['NODE_ENV'] === 'production';
}
