import type * as Keys from './keys.js';
import { type Session, untilAborted } from './session.js';

/** Resolves after Ctrl+C, and where there is a terminal, when `q` is pressed. `actions` returns what the other keys do. */
export async function untilQuit(
  session: Session,
  actions: (keys: typeof Keys) => readonly Keys.KeyAction[],
): Promise<void> {
  // Loaded where there is a terminal, so that the program starts quickly elsewhere.
  const module = session.stdout.isTTY ? await import('./keys.js') : undefined;
  const keys = module && (await module.openKeys(session, actions(module)));
  await Promise.race([untilAborted(session.signal), ...(keys ? [keys.quit] : [])]);
  keys?.close();
}
