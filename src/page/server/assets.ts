import { readFile } from 'node:fs/promises';

/** The built files of `front/`. */
export interface Assets {
  script: Buffer;
  style: Buffer;
}

/** Next to the folder of the command line, where both are built. */
const BUILT = new URL('../page/', import.meta.url);

/** Rejects where the page is not built. */
export async function readAssets(directory: URL = BUILT): Promise<Assets> {
  const [script, style] = await Promise.all(['page.js', 'style.css'].map((name) => readFile(new URL(name, directory))));
  return { script: script as Buffer, style: style as Buffer };
}

/** An open ring, in the accent colour of the page. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 4a12 12 0 1 0 12 12" fill="none" stroke="#3b6ef5" stroke-width="5" stroke-linecap="round"/><circle cx="24" cy="8" r="4" fill="#3b6ef5"/></svg>';
