import type { SCOPES } from './keys.js';

/** Every route that the emulator answers by itself (specification, sections 4.1 to 4.6). */
export const ROUTES = [
  { method: 'GET', path: '/api/v1/account/api-limits', scope: undefined, sandbox: true, answer: 'apiLimits' },
  { method: 'GET', path: '/api/v1/usage', scope: 'analytics:read', sandbox: true, answer: 'usage' },
  { method: 'GET', path: '/api/v1/account/webhooks', scope: 'webhooks:read', sandbox: true, answer: 'list' },
  { method: 'POST', path: '/api/v1/account/webhooks', scope: 'webhooks:write', sandbox: false, answer: 'create' },
  { method: 'PATCH', path: '/api/v1/account/webhooks/{id}', scope: 'webhooks:write', sandbox: false, answer: 'update' },
  {
    method: 'DELETE',
    path: '/api/v1/account/webhooks/{id}',
    scope: 'webhooks:write',
    sandbox: false,
    answer: 'remove',
  },
] as const satisfies readonly {
  method: string;
  path: string;
  /** The scope a key needs for it. */
  scope: (typeof SCOPES)[number] | undefined;
  /** Whether it takes a sandbox key. */
  sandbox: boolean;
  answer: string;
}[];

export type Route = (typeof ROUTES)[number];

/** The values of `{…}` in a path that fits the pattern; undefined where it does not. */
export function matchPath(pattern: string, path: string): readonly string[] | undefined {
  const wanted = pattern.split('/');
  const found = path.split('/');
  if (wanted.length !== found.length) return undefined;
  const values: string[] = [];
  for (const [i, segment] of wanted.entries()) {
    const value = found[i] ?? '';
    if (segment.startsWith('{') && segment.endsWith('}') && value !== '') values.push(value);
    else if (segment !== value) return undefined;
  }
  return values;
}
