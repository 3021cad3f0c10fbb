import { spawn } from 'node:child_process';

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/** Opens an address of this machine in the browser, as far as there is one. Never fails: the address is printed too. */
export function openBrowser(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const [program, ...args] = OPENERS[process.platform] ?? [];
  // Without a screen, xdg-open starts a browser in the terminal.
  const hasScreen = process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (program === undefined || !hasScreen) return;
  const opener = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
