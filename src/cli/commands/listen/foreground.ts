import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Whether this process may read from its terminal: with `&` behind the command, the shell has it. */
export async function isInForeground(): Promise<boolean> {
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
