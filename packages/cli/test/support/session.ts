import { now } from '../../../../test/support/deliveries.js';
import type { Session } from '../../src/session.js';

/** What a command has to work with, without a process around it: files by their path, and stdin as `-`. */
export function aSession(env: Record<string, string> = {}, files: Record<string, Uint8Array | string> = {}): Session {
  const read = async (path: string) => Buffer.from(files[path] ?? `no ${path}`);
  const stderr = { write: () => {} };
  return { env, read, now, stderr, config: {}, fileOf: new Map() } as unknown as Session;
}
