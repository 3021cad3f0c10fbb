import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isWebhookError, verify } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecordings, readVectors } from '../support/fixtures.js';
import { exchange, type RawResponse, toBytes } from '../support/raw-http.js';
import { bodyOf, changedByHttp, settingsOf, type Vector, type Verdict } from '../support/vector.js';
import { buildPrograms, type CryptoApi } from './build-programs.js';
import type { About, Taken, Verdicts } from './programs/endpoints.js';
import type { SuiteResult } from './programs/workerd-suite.js';
import { type Runtime, runtimes } from './runtimes.js';
import { startProgram } from './start-program.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vectors = readVectors();
const recordings = readRecordings();
const there = runtimes.filter(({ command }) => command !== undefined);

let programs: Awaited<ReturnType<typeof buildPrograms>>;

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

const places = there.flatMap((runtime) =>
  (['node:crypto', 'WebCrypto'] as const).map((api): [string, CryptoApi, Runtime] => [runtime.name, api, runtime]),
);

describe.each(places)('the library on %s, with %s', (_, api, runtime) => {
  let server: Awaited<ReturnType<typeof startProgram>>;
  let verdicts: Verdicts[];

  const url = (path: string) => `http://127.0.0.1:${server.port}${path}`;
  const ask = async (path: string, init?: RequestInit) => (await fetch(url(path), init)).json();

  beforeAll(async () => {
    server = await startProgram(runtime, programs.folderOf(api));
    verdicts = (await ask('/vectors', { method: 'POST', body: JSON.stringify(vectors) })) as Verdicts[];
  });

  afterAll(() => server.stop());

  it('the test program runs on this runtime, with this crypto API', async () => {
    const { versions, userAgent, syncCrypto } = (await ask('/')) as About;
    if (runtime.program === 'workerd') expect(userAgent).toBe('Cloudflare-Workers');
    else expect(versions[runtime.program]).toBe(runtime.version);
    expect(syncCrypto).toBe(api === 'node:crypto');
  });

  it(`verifyAsync gives the verdict of each of the ${vectors.length} vectors`, () => {
    expect(byName(verdicts.map(({ verifyAsync }) => verifyAsync))).toEqual(byName(vectors.map((v) => v.expect)));
  });

  it(`verify ${api === 'node:crypto' ? 'agrees with each vector' : 'refers to verifyAsync for the HMAC'}`, () => {
    const expected = vectors.map((vector) => (api === 'WebCrypto' && reachesHmac(vector) ? NO_SYNC : vector.expect));
    expect(byName(verdicts.map(({ verify }) => verify))).toEqual(byName(expected));
  });

  it.each(['handler', 'middleware'])('a %s that is served over HTTP gives the answer of each vector', async (kind) => {
    const sent: [Vector, string, RawResponse][] = [];
    for (const [index, vector] of vectors.entries()) {
      if (changedByHttp(vector)) continue;
      const path = `/${kind}/${index}`;
      const request = toBytes({ path, headers: vector.headers, body: bodyOf(vector) });
      sent.push([vector, path, await exchange(server.port, request)]);
    }
    const taken = (await ask('/taken')) as Taken;
    const judged = sent.map(([{ name }, path, { status, body }]) => {
      const seen = taken.filter(([where]) => where === path).map(([, verdict]) => verdict);
      return [name, status === 200 ? seen : [...seen, refusal(status, body)]];
    });
    expect(Object.fromEntries(judged)).toEqual(
      Object.fromEntries(sent.map(([vector]) => [vector.name, [expectedOver(runtime, vector)]])),
    );
  });

  it('a receiver created at module level handles each recorded delivery once', async () => {
    for (const { type, bytes } of recordings) {
      const first = await exchange(server.port, bytes);
      const second = await exchange(server.port, bytes);
      const told = [first, second].map(({ status, body }) => [status, JSON.parse(body).outcome]);
      expect([type, ...told]).toEqual([type, [200, 'handled'], [200, 'duplicate']]);
    }
    const taken = (await ask('/taken')) as Taken;
    expect(taken.filter(([path]) => path === '/webhooks')).toHaveLength(recordings.length);
  });
});

describe.each(there.filter(({ program }) => program === 'workerd'))('the tests inside $name', (runtime) => {
  it('both forms of the Fetch adapter pass the adapter suite', async () => {
    const server = await startProgram(runtime, programs.folderOf('node:crypto'), 'workerd-suite');
    try {
      const results = (await (await fetch(`http://127.0.0.1:${server.port}/`)).json()) as SuiteResult[];
      expect(results.filter(({ failure }) => failure)).toEqual([]);
      expect(results.length).toBeGreaterThan(40);
    } finally {
      await server.stop();
    }
  });
});

describe.each(there.filter(({ program }) => program !== 'workerd'))(
  'the tests inside $name',
  ({ program, command, version }) => {
    it('every adapter passes the adapter suite and the vectors', () => {
      const [file = '', ...args] = [...(command ?? []), 'node_modules/vitest/vitest.mjs', 'run'];
      const project = ['--project', 'inside'];
      const env = { ...process.env, RUNTIME: program, RUNTIME_VERSION: version };
      const { status, stdout, stderr } = spawnSync(file, [...args, ...project], { cwd: root, env, encoding: 'utf8' });
      // As the message: what a comparison prints of a long string is cut before the failure.
      expect(status, failuresIn(stdout) + stderr).toBe(0);
    });
  },
);

it('docs/runtimes.md has the tested version of each runtime', () => {
  const rows = [...readFileSync(`${root}docs/runtimes.md`, 'utf8').matchAll(/^\| (\w+(?: \d+)?) \| ([\d.]+) \|/gm)];
  const listed = rows.map(([, name = '', version]) => [name.toLowerCase().replace(' ', '-'), version]);
  expect(listed).toEqual(runtimes.map(({ name, version }) => [name, version]));
});

/** What the runner prints after its list of files. */
function failuresIn(output: string): string {
  const from = output.indexOf('⎯⎯⎯');
  return from < 0 ? output : output.slice(from);
}

const NO_SYNC = { accept: false, code: 'sync_crypto_unavailable', status: 500 };

/** Whether it takes the HMAC to come to the verdict: then another secret gives another one. */
function reachesHmac(vector: Vector): boolean {
  try {
    verify({ ...settingsOf(vector), secret: 'another', headers: vector.headers, body: bodyOf(vector) });
  } catch (error) {
    return isWebhookError(error) && error.code === 'signature_mismatch';
  }
  throw new Error('accepted with another secret');
}

function byName<T>(verdicts: T[]): Record<string, T | undefined> {
  return Object.fromEntries(vectors.map(({ name }, index) => [name, verdicts[index]]));
}

/** The verdict of the vector; of the server alone where it refuses a header so long. */
function expectedOver(
  { maxHeaderBytes = Infinity }: Runtime,
  vector: Vector,
): Verdict | { accept: false; status: number } {
  const tooLong = vector.headers.some(([, value]) => value.length > maxHeaderBytes);
  return tooLong ? { accept: false, status: 400 } : vector.expect;
}

function refusal(status: number, body: string) {
  return body === '' ? { accept: false, status } : { accept: false, code: JSON.parse(body).error.code, status };
}
