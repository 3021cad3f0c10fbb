import { open, readFile, rename, rm } from 'node:fs/promises';

/** Writes a file that is there whole or as it was before. Only its owner can read it: it holds signing secrets. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export function readWhole(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
