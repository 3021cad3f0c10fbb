/**
 * Matches a path against a pattern such as `/v1/dubbing/jobs/{id}`, where `{…}` stands for one segment. Returns the
 * values of these segments; undefined where the path does not match.
 */
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
