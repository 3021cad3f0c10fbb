import type { Readable } from 'node:stream';
import type { Session } from '../../session.js';
import { isInForeground } from './foreground.js';

/** What the keys do; each gives the sentence that is shown. */
export interface KeyActions {
  replay(): Promise<string>;
  page(): Promise<string>;
}

export interface Keys {
  /** Resolves when `q` is pressed. */
  readonly quit: Promise<void>;
  /** The terminal is as it was. */
  close(): void;
}

const HELP = 'Keys: r replays the last delivery, o opens the page, ? lists the keys, q quits.';
const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';

type Terminal = Readable & { isTTY?: boolean; setRawMode?(raw: boolean): void };

/** Reads keys from the terminal. Undefined where there is none, and in the background, where reading would stop the program. */
export async function openKeys(session: Session, actions: KeyActions): Promise<Keys | undefined> {
  if (!session.stdout.isTTY || session.out.json) return undefined;
  const terminal: Terminal = session.stdin();
  if (!terminal.isTTY || !terminal.setRawMode || !(await isInForeground())) return undefined;
  const { out, signal } = session;
  let quit = () => {};
  let busy = false;

  const show = (action: () => Promise<string>) => {
    if (busy) return;
    busy = true;
    action()
      .catch((error) => (error instanceof Error ? error.message : String(error)))
      .then((sentence) => {
        busy = false;
        out.note(sentence);
      });
  };
  const pressed = (key: string) => {
    if (key === 'r') show(actions.replay);
    if (key === 'o') show(actions.page);
    if (key === '?') out.note(HELP);
    if (key === 'q') quit();
    if (key === CTRL_C) interrupt();
    if (key === CTRL_Z && process.platform !== 'win32') suspend();
  };
  const read = (chunk: Buffer) => {
    for (const key of chunk.toString()) pressed(key);
  };
  const open = () => {
    terminal.setRawMode?.(true);
    terminal.on('data', read).resume();
  };
  const close = () => {
    terminal.off('data', read).pause();
    terminal.setRawMode?.(false);
  };
  /** Raw mode takes this from the terminal. */
  const suspend = () => {
    close();
    process.once('SIGCONT', async () => {
      if (!signal.aborted && (await isInForeground())) open();
    });
    process.kill(0, 'SIGTSTP');
  };

  terminal.on('error', close);
  const quitting = new Promise<void>((resolve) => {
    quit = resolve;
  });
  signal.addEventListener('abort', close, { once: true }); // so that a second Ctrl+C is a signal again
  open();
  out.note(['faint', HELP]);
  return {
    quit: quitting,
    close() {
      signal.removeEventListener('abort', close);
      close();
    },
  };
}

/** As the terminal does it without raw mode: for every process of the group. Windows knows no groups. */
function interrupt(): void {
  if (process.platform === 'win32') process.emit('SIGINT');
  else process.kill(0, 'SIGINT');
}
