import type { SchemaIssue } from './data-schema.js';

const MAX_PATHS = 10;
/** A path has at most so many parts, however deep the data is. */
export const MAX_DEPTH = 20;

/**
 * Returns where `data` does not match its schema, each path once: `data.segments[].text`.
 *
 * @param issues The issues as a schema returned them, which may be anything.
 */
export function issuePaths(issues: readonly unknown[]): string[] {
  const paths = new Set<string>();
  for (const issue of issues) {
    paths.add(pathOf(issue));
    if (paths.size === MAX_PATHS) break;
  }
  return paths.size > 0 ? [...paths] : ['data'];
}

function pathOf(issue: unknown): string {
  const { path } = Object(issue) as Partial<SchemaIssue>;
  const segments = Array.isArray(path) ? path.slice(0, MAX_DEPTH) : [];
  return segments.reduce((text: string, segment) => text + step(Object(segment).key ?? segment), 'data');
}

/**
 * Returns a key as a part of a path. An index becomes `[]`, so that all items of a list share a path; a key that is no
 * field's name becomes `*`, because it may be personal data.
 */
export function step(key: unknown): string {
  if (typeof key === 'number' || /^\d+$/.test(String(key))) return '[]';
  return typeof key === 'string' && /^[A-Za-z_$][\w$-]{0,63}$/.test(key) ? `.${key}` : '.*';
}
