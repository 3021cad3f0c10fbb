import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createReceiver, isEvent, parseEvent, verify, WEBHOOK_EVENT_TYPES, type WebhookEvent } from 'service-webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixturesDirectory, readRecordings } from './support/fixtures.js';
import { mounts, serveEndpoints } from './support/mounts.js';
import { exchange } from './support/raw-http.js';

const SECRET = 'fixture-secret-4cf1b0a92d7e';
const SIGNED_AT = Date.parse('2026-07-11T12:00:00Z');

const recordings = readRecordings();
const settings = { secret: SECRET, now: () => SIGNED_AT };

describe('the recorded deliveries', () => {
  it('there is one for each event type', () => {
    expect(recordings.map(({ type }) => type).sort()).toEqual([...WEBHOOK_EVENT_TYPES].sort());
  });

  it.each(recordings)('verify accepts the V2 signature of the recorded $type', ({ type, headers, body }) => {
    const { event, scheme, signedAt, secretIndex } = verify({ ...settings, headers, body });
    expect({ type: event.type, scheme, signedAt, secretIndex }).toEqual({
      type,
      scheme: 'v2',
      signedAt: SIGNED_AT,
      secretIndex: 0,
    });
  });

  it.each(recordings)('verify accepts the legacy signature of the recorded $type', ({ headers, body }) => {
    const legacyOnly = headers.filter(([name]) => name !== 'X-Service-Signature-V2');
    expect(verify({ ...settings, headers: legacyOnly, body, legacy: 'accept' }).scheme).toBe('legacy');
  });

  it.each(recordings)(
    'the recorded $type is refused when its body is parsed and serialised again',
    ({ headers, body }) => {
      const again = JSON.stringify(JSON.parse(body.toString('utf8')));
      expect(() => verify({ ...settings, headers, body: again })).toThrow(
        expect.objectContaining({ code: 'signature_mismatch' }),
      );
    },
  );

  it.each(recordings)('the recorded $type has exactly the headers of a delivery', ({ requestLine, headers, body }) => {
    expect(requestLine).toBe('POST /webhooks HTTP/1.1');
    expect(Object.fromEntries(headers)).toEqual({
      Host: 'receiver.example',
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'X-Service-Signature-V2': expect.stringMatching(/^t=1783771200,v1=[0-9a-f]{64}$/),
      'X-Service-Signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'X-Service-Timestamp': '1783771200',
      'X-Service-Webhook-Id': expect.stringMatching(/./),
      'X-Service-Attempt': expect.stringMatching(/^[1-6]$/),
      'Idempotency-Key': expect.stringMatching(/./),
    });
  });

  it('every event except trigger.failed has a jobId', () => {
    const withoutJob = recordings.filter(({ body }) => parseEvent(body).jobId === null);
    expect(withoutJob.map(({ type }) => type)).toEqual(['trigger.failed']);
  });

  it('data has only the fields that the specification shows', () => {
    const fields = Object.fromEntries(recordings.map(({ type, body }) => [type, Object.keys(parseEvent(body).data)]));
    const { 'generation.completed': shown, ...others } = fields;
    expect(shown).toEqual(['clipId', 'feature', 'durationSec', 'downloadUrl']);
    expect(new Set(Object.values(others).flat())).toEqual(new Set(['clipId']));
  });

  it('a clip id in data is the job id', () => {
    for (const { body } of recordings) {
      const { data, jobId } = parseEvent(body);
      const { clipId = jobId } = data;
      expect(clipId).toBe(jobId);
    }
  });

  it('the recorded generation.completed has the data of its type', () => {
    const [completed] = recordings.filter(({ type }) => type === 'generation.completed');
    expect(completed && isEvent(parseEvent(completed.body), 'generation.completed')).toBe(true);
  });
});

describe.each(mounts.filter(({ name }) => name.endsWith('handler')))(
  'the recorded deliveries sent to $name',
  (mount) => {
    const handled: WebhookEvent[] = [];
    const receiver = createReceiver({ ...settings, on: { '*': (event) => void handled.push(event) } });
    let server: Awaited<ReturnType<typeof mount.serve>>;

    beforeAll(async () => {
      server = await serveEndpoints(mount, { receiverFor: () => receiver, onRouted() {} });
    });

    afterAll(() => server.close());

    it.each(recordings)(
      'the recorded $type is handled the first time and a duplicate the second time',
      async ({ bytes, body }) => {
        handled.length = 0;
        const first = await exchange(server.port, bytes);
        const second = await exchange(server.port, bytes);
        expect([first, second].map(({ status, body: text }) => [status, JSON.parse(text).outcome])).toEqual([
          [200, 'handled'],
          [200, 'duplicate'],
        ]);
        expect(handled).toEqual([parseEvent(body)]);
      },
    );
  },
);

const directory = mkdtempSync(join(tmpdir(), 'fixtures-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('scripts/make-fixtures.mjs writes exactly the fixtures of the repository', () => {
  const script = fileURLToPath(new URL('../scripts/make-fixtures.mjs', import.meta.url));
  execFileSync(process.execPath, [script, directory]);

  const files = (from: string) =>
    ['deliveries', 'refused-deliveries'].flatMap((folder) =>
      readdirSync(join(from, folder)).map((file) => join(folder, file)),
    );
  const lists = ['vectors.json', 'queued-deliveries.json', 'recorded-deliveries.json'];
  const repository = fileURLToPath(fixturesDirectory);
  expect(files(directory)).toEqual(files(repository));
  for (const file of [...files(directory), ...lists]) {
    const same = readFileSync(join(directory, file)).equals(readFileSync(join(repository, file)));
    expect({ file, same }).toEqual({ file, same: true });
  }
});
