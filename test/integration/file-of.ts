import { existsSync } from 'node:fs';

/** The first of these paths where there is a file. */
export function fileOf(...paths: string[]): string | undefined {
  return paths.find((path) => existsSync(path)) ?? missing(`${paths[0]}`, 'not there');
}

/** What is not there is skipped in sight of everyone, and never in CI. */
export function missing(name: string, reason: unknown): undefined {
  const [text] = String(reason).split('\n');
  const { CI } = process.env;
  if (CI === 'true') throw new Error(`${name} is needed in CI: ${text}`);
  console.warn(`SKIPPED: what needs ${name} (${text}). Install it: node test/integration/install.mjs`);
  return undefined;
}
