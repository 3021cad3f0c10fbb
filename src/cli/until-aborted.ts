import { once } from 'node:events';

/** Resolves when the signal is aborted: by Ctrl+C, where it is that of the session. */
export async function untilAborted(signal: AbortSignal): Promise<undefined> {
  if (!signal.aborted) await once(signal, 'abort');
  return undefined;
}
