import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { explained } from './output.js';
import type { Session } from './session.js';

/** What a key does. */
export interface KeyAction {
  key: string;
  /** In the help: `replays the last delivery`. */
  says: string;
  /** Resolves to what is shown: the first sentence on a line, and those that explain it below. */
  run(): Promise<string>;
}

export interface Keys {
  /** Resolves when `q` is pressed. */
  readonly quit: Promise<void>;
  /** The terminal is as it was. */
  close(): void;
}

const CTRL_C = '\u0003';
const CTRL_Z = '\u001a';

type Terminal = Readable & { isTTY?: boolean; setRawMode?(raw: boolean): void };

/** Reads keys from the terminal. Undefined where there is none, and in the background, where reading would stop the program. */
export async function openKeys(session: Session, actions: readonly KeyAction[]): Promise<Keys | undefined> {
  if (!session.stdout.isTTY || session.out.json) return undefined;
  const terminal: Terminal = session.stdin();
  if (!terminal.isTTY || !terminal.setRawMode || !(await isInForeground())) return undefined;
  const { out, signal } = session;
  const help = `Keys: ${actions.map(({ key, says }) => `${key} ${says}`).join(', ')}, ? lists the keys, q quits.`;
  let quit = () => {};
  let busy = false;

  const show = (action: () => Promise<string>) => {
    if (busy) return;
    busy = true;
    action()
      .catch((error) => (error instanceof Error ? error.message : String(error)))
      .then((text) => {
        busy = false;
        for (const line of explained(text)) out.note(...line);
      });
  };
  const pressed = (key: string) => {
    const action = actions.find((one) => one.key === key);
    if (action) show(action.run);
    if (key === '?') out.note(help);
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
  out.note(['faint', help]);
  return {
    quit: quitting,
    close() {
      signal.removeEventListener('abort', close);
      close();
    },
  };
}

/** Returns the key that opens a page in the browser. `page` resolves to its address, and `what` is on it. */
export function pageKey({ env }: Session, page: () => Promise<string>, what = 'Deliveries'): KeyAction {
  const run = async () => {
    const url = await page();
    openBrowser(url, env);
    return `${what}: ${url}`;
  };
  return { key: 'o', says: 'opens the page', run };
}

/** As the terminal does it without raw mode: for every process of the group. Windows knows no groups. */
function interrupt(): void {
  if (process.platform === 'win32') process.emit('SIGINT');
  else process.kill(0, 'SIGINT');
}

/** Whether this process may read from its terminal: with `&` behind the command, the shell has it. */
async function isInForeground(): Promise<boolean> {
  if (process.platform === 'win32') return true;
  if (process.platform === 'linux') {
    const stat = await readFile('/proc/self/stat', 'utf8').catch(() => '');
    return ownsTerminal(stat);
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(process.pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.includes('+');
}

/** Compares the process group with that of the terminal, fields 5 and 8. The name before them may have any characters. */
function ownsTerminal(stat: string): boolean {
  const [, , , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
  return group !== undefined && group === terminalGroup;
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/** Opens an address of this machine in the browser, as far as there is one. Never fails: the address is printed too. */
function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const [program, ...args] = OPENERS[process.platform] ?? [];
  // Without a screen, xdg-open starts a browser in the terminal.
  const hasScreen = process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (program === undefined || !hasScreen) return;
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
