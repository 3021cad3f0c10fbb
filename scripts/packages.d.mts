export const root: string;
// biome-ignore lint/suspicious/noExplicitAny: a package.json may hold anything
export function manifestOf(folder: string): any;
export const PACKAGES: readonly string[];
