interface NodeProcess {
  readonly argv: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly versions: Readonly<Record<string, string>>;
  cwd(): string;
  getBuiltinModule(id: 'fs'): {
    statSync(path: string): { isFile(): boolean };
    readFileSync(path: string, encoding: 'utf8'): string;
  };
  getBuiltinModule(id: 'path'): { relative(from: string, to: string): string };
  getBuiltinModule(id: 'util'): { parseEnv(text: string): Record<string, string> };
}

/** A variable for a signing secret, such as `WEBHOOK_SECRET` or `ACME_SIGNING_SECRET`. */
const SECRET_NAME = /(WEBHOOK|SIGNING).*SECRET/i;

/** What was found, for each later error: a secret function may return no secret for every request. */
let found: { hint: string | undefined } | undefined;

/**
 * Returns how to start the program with the `.env` of its working directory, where that file has the secret that the
 * environment lacks: Node reads it only on request. Undefined otherwise, and on other runtimes. Never throws, and never
 * returns a value of the file.
 */
export function dotEnvHint(): string | undefined {
  found ??= { hint: findHint() };
  return found.hint;
}

function findHint(): string | undefined {
  try {
    const { process } = globalThis as unknown as { process: NodeProcess };
    const { statSync, readFileSync } = process.getBuiltinModule('fs');
    const isNode = !('bun' in process.versions || 'deno' in process.versions); // both imitate it
    if (!isNode || !statSync('.env').isFile()) return undefined; // a pipe of a password manager would block
    const values = process.getBuiltinModule('util').parseEnv(readFileSync('.env', 'utf8'));
    const names = ['WEBHOOK_SECRET', ...Object.keys(values).filter((name) => SECRET_NAME.test(name))];
    const name = names.find((each) => values[each] && !process.env[each]);
    if (name === undefined) return undefined;
    if (name in process.env) return `The environment has an empty ${name}, which overrides that of \`.env\`: unset it.`;
    return `Node has not loaded ${name}, but \`.env\` has it: ${startCommand(process)}.`;
  } catch {
    return undefined; // no such file, or a runtime without files
  }
}

function startCommand(process: NodeProcess): string {
  const file = process.getBuiltinModule('path').relative(process.cwd(), process.argv[1] ?? '');
  const isTool = file === '' || file.startsWith('..') || file.includes('node_modules'); // such as vite
  if (isTool) return 'load it as your framework does, or start with `node --env-file=.env server.js`';
  const runner = process.execArgv.some((argument) => argument.includes('tsx')) ? 'npx tsx' : 'node';
  return `start with \`${runner} --env-file=.env ${file}\``;
}
