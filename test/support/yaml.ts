/** A value of the YAML that {@link yamlOf} reads. */
export type Yaml = string | number | boolean | Yaml[] | { [key: string]: Yaml };

/**
 * Reads the YAML of a deploy file: maps and lists by their indentation, texts with and without quotes, numbers and booleans. Of
 * the short functions of CloudFormation it takes their argument. Throws for anything else.
 */
export function yamlOf(lines: readonly string[]): Yaml {
  const rest = lines.filter((line) => line.trim() !== '');
  const value = readBlock(rest, 0);
  if (rest.length > 0) throw new Error(`not read: ${rest[0]}`);
  return value;
}

const depthOf = (line: string | undefined) => (line === undefined ? -1 : line.search(/\S/));

function readBlock(rest: string[], depth: number): Yaml {
  return rest[0]?.slice(depth).startsWith('- ') ? readList(rest, depth) : readMap(rest, depth);
}

function readList(rest: string[], depth: number): Yaml[] {
  const list: Yaml[] = [];
  while (depthOf(rest[0]) === depth && rest[0]?.slice(depth).startsWith('- ')) {
    const item = rest[0].slice(depth + 2);
    if (/^\w+:( |$)/.test(item)) {
      rest[0] = `${' '.repeat(depth + 2)}${item}`;
      list.push(readMap(rest, depth + 2));
    } else {
      rest.shift();
      list.push(scalarOf(item));
    }
  }
  return list;
}

function readMap(rest: string[], depth: number): { [key: string]: Yaml } {
  const map: { [key: string]: Yaml } = {};
  while (depthOf(rest[0]) === depth) {
    const line = rest.shift() as string;
    const [, key, text] = /^ *([\w]+):(?: (.+))?$/.exec(line) ?? [];
    if (key === undefined || key in map) throw new Error(`no member of a map: ${line}`);
    if (text === undefined && depthOf(rest[0]) <= depth) throw new Error(`nothing under ${line}`);
    map[key] = text === undefined ? readBlock(rest, depthOf(rest[0])) : scalarOf(text);
  }
  return map;
}

function scalarOf(text: string): Yaml {
  const [, , quoted, plain = ''] = /^(!\w+ )?(?:'([^']*)'|([\w$/.][\w$/.:{}-]*))$/.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  if (plain === '') throw new Error(`no scalar that is read here: ${text}`);
  if (plain === 'true' || plain === 'false') return plain === 'true';
  return /^\d+$/.test(plain) ? Number(plain) : plain;
}
