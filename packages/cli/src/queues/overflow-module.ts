import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Overflow } from 'service-webhooks/queue/overflow';
import { Failure, fileFailure, reasonOf } from '../failure.js';

const METHODS = ['put', 'get', 'delete'] as const;

/**
 * Loads the overflow of a queue from a module of the user. What its methods throw is also given to `onError`, because a
 * letter alone says that its body could not be read.
 *
 * @throws Failure
 */
export async function loadOverflow(file: string, onError: (reason: string) => void): Promise<Overflow> {
  const path = resolve(file);
  if (!existsSync(path)) throw fileFailure(file, { code: 'ENOENT' });
  if (statSync(path).isDirectory()) throw fileFailure(file, { code: 'EISDIR' });
  const module: unknown = await import(pathToFileURL(path).href).catch((error) => {
    throw new Failure('file', `${file} cannot be loaded: ${reasonOf(error)}`);
  });
  const overflow = exportsOf(module).find(isOverflow);
  const mustBe = 'its default export, or its export overflow, must be an object with the methods put, get and delete';
  if (overflow === undefined) throw new Failure('file', `${file}: ${mustBe}.`);
  return {
    put: (id, body) => reported('put', () => overflow.put(id, body)),
    get: (id) => reported('get', () => overflow.get(id)),
    delete: (id) => reported('delete', () => overflow.delete(id)),
  };

  async function reported<T>(method: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      onError(`${file}: ${method} has failed: ${reasonOf(error)}`);
      throw error;
    }
  }
}

/** What may be the overflow: a module of CommonJS is the default export, also where a compiler has written it. */
function exportsOf(module: unknown): unknown[] {
  const { overflow, default: whole } = Object(module);
  return [overflow, whole, Object(whole).overflow, Object(whole).default];
}

function isOverflow(value: unknown): value is Overflow {
  return METHODS.every((name) => typeof Object(value)[name] === 'function');
}
