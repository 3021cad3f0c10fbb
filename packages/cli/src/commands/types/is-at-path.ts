/**
 * Whether a path that the user has named is that of an object, such as `data.words[].tags`. The name may omit the marks of
 * lists, and `*` is any one name or any element.
 */
export function isAtPath(named: string, path: string): boolean {
  return matches(partsOf(named), partsOf(path));
}

function partsOf(path: string): string[] {
  return path.replaceAll('[]', '.[]').split('.');
}

function matches([name, ...names]: readonly string[], [part, ...parts]: readonly string[]): boolean {
  if (part === undefined) return name === undefined;
  if (part === '[]' && matches(name === undefined ? [] : [name, ...names], parts)) return true;
  return (name === '*' || name === part) && matches(names, parts);
}
