const MAX_PATHS = 10;
/** A path has at most so many parts, however deep the data is. */
export const MAX_DEPTH = 20;

/** The fields that a schema knows of a value and of the values in it. */
export interface KnownFields {
  /** Whether a key is the name of a field. Other keys are data, such as those of a map, and no part of a path. */
  names(key: string): boolean;
  /** Returns the fields below a field, or undefined where the schema does not know it. */
  field(key: string): KnownFields | undefined;
  item(index: number): KnownFields;
}

/** Of a value about whose fields a schema says nothing: a key that looks like the name of a field counts as one. */
export const ANY_FIELDS: KnownFields = {
  names: (key) => /^[A-Za-z_$][\w$-]{0,63}$/.test(key),
  field: () => ANY_FIELDS,
  item: () => ANY_FIELDS,
};

/**
 * Returns where `data` does not match its schema, each path once: `data.segments[].text`. All items of a list share a path.
 * A key that is not the name of a field is `*`, because it may be personal data.
 *
 * @param issues The issues as a schema returned them, which may be anything.
 * @param known The fields of `data` that the schema knows.
 */
export function issuePaths(issues: readonly unknown[], known: KnownFields = ANY_FIELDS): string[] {
  const paths = new Set<string>();
  for (const issue of issues) {
    paths.add(pathOf(issue, known));
    if (paths.size === MAX_PATHS) break;
  }
  return paths.size > 0 ? [...paths] : ['data'];
}

function pathOf(issue: unknown, data: KnownFields): string {
  const { path } = Object(issue);
  let text = 'data';
  let known = data;
  for (const segment of Array.isArray(path) ? path.slice(0, MAX_DEPTH) : []) {
    const key = Object(segment).key ?? segment;
    const isItem = typeof key === 'number';
    const name = typeof key === 'string' ? key : '';
    text += isItem ? '[]' : pathPart(name, known);
    known = isItem ? known.item(key) : (known.field(name) ?? ANY_FIELDS);
  }
  return text;
}

/** Returns a key as the part of a path. */
export function pathPart(key: string, known: KnownFields): string {
  return known.names(key) ? `.${key}` : '.*';
}
