import nodeModule from 'node:module';
import { join } from 'node:path';
import { Failure } from './failure.js';

/** A package of the project in the current directory, or a dependency of that package; undefined where it is missing. */
export function installed<Module>(name: string, dependency?: string): Module | undefined {
  let load = nodeModule.createRequire(join(process.cwd(), 'package.json'));
  try {
    if (dependency !== undefined) load = nodeModule.createRequire(load.resolve(name));
    load.resolve(dependency ?? name);
  } catch {
    return undefined;
  }
  return load(dependency ?? name) as Module;
}

/** {@link installed}, where the command cannot do without. @throws Failure */
export function needed<Module>(name: string, dependency?: string): Module {
  const module = installed<Module>(name, dependency);
  if (module !== undefined) return module;
  const missing = installed(name) === undefined ? name : (dependency ?? name);
  throw new Failure(
    'usage',
    `the project in this directory has no ${missing}: run this where your app is, or npm install ${missing}.`,
  );
}
