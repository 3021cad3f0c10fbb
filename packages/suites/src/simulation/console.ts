import { format } from 'node:util';
import { currentProcess } from './processes.js';
import type { Story } from './story.js';

const METHODS = ['debug', 'info', 'log', 'warn', 'error'] as const;

/** Lets what the processes print go into the story instead of the console. Returns the function that undoes it. */
export function printInto(story: Story): () => void {
  const { console } = globalThis;
  const original = METHODS.map((method) => [method, console[method]] as const);
  for (const [method, print] of original) {
    console[method] = (...args) => {
      const process = currentProcess();
      if (process) story.tell(process.name, `prints ${JSON.stringify(format(...args).split('\n', 1)[0])}`);
      else print.apply(console, args);
    };
  }
  return () => Object.assign(console, Object.fromEntries(original));
}
