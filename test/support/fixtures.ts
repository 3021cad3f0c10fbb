import { readdirSync, readFileSync } from 'node:fs';
import type { Vector } from './vector.js';

export const fixturesDirectory = new URL('../../fixtures/', import.meta.url);

export function readVectors(): Vector[] {
  return readJson('vectors.json');
}

export function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, fixturesDirectory), 'utf8'));
}

/** A request recorded as it goes over the wire. */
export interface Recording {
  type: string;
  bytes: Buffer;
  requestLine: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

/** `fixtures/deliveries/*.http`, and what is in them. */
export function readRecordings(): Recording[] {
  const directory = new URL('deliveries/', fixturesDirectory);
  return readdirSync(directory).map((file) => {
    const bytes = readFileSync(new URL(file, directory));
    const end = bytes.indexOf('\r\n\r\n');
    const [requestLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
    return { type: file.replace(/\.http$/, ''), bytes, requestLine, headers, body: bytes.subarray(end + 4) };
  });
}
