import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createReceiver, verify } from 'service-webhooks';
import { readDelivery, sampleEvent, signDelivery } from 'service-webhooks/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Got, serveApp } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { redactJson } from '../src/redact.js';
import { useCli } from './support/cli.js';

const cli = useCli();
const LINK = 'https://storage.example/clip.mp3?signature=abc';
const TEST_SECRET = 'the secret of the tests';
const delivery = signDelivery({
  secret: SECRET,
  event: sampleEvent('generation.completed', {
    id: 'evt_7',
    jobId: 'job_7',
    data: { clipId: 'clip_7', downloadUrl: LINK, durationSec: 4.5 },
  }),
});
const inCwd = (name: string) => join(cli.cwd, name);
const SIGNING = ['--redact', 'data.downloadUrl,data.clipId', '--sign-with', 'file:test-secret.txt'];

beforeEach(() => {
  const head = Object.entries(delivery.headers).map((pair) => pair.join(': '));
  const lines = ['POST /hook HTTP/1.1', 'Host: app.example', 'X-Forwarded-For: 203.0.113.7', ...head];
  writeFileSync(inCwd('delivery.http'), `${lines.join('\r\n')}\r\n\r\n${Buffer.from(delivery.body)}`);
  writeFileSync(inCwd('test-secret.txt'), `${TEST_SECRET}\n`);
});

/** Whether a file is a delivery of the tests without what was left out. */
async function expectFixture(file: string): Promise<void> {
  const text = readFileSync(file, 'latin1');
  for (const hidden of [LINK, 'clip_7', 'X-Forwarded-For', 'app.example', TEST_SECRET])
    expect(text).not.toContain(hidden);
  const fixture = readDelivery(text);
  expect(fixture.at).toBe(Math.floor(delivery.at / 1000) * 1000);
  const { event } = verify({ ...fixture, secret: TEST_SECRET, now: () => fixture.at ?? 0 });
  expect(event).toMatchObject({
    id: 'evt_7',
    jobId: 'job_7',
    data: { clipId: 'redacted', durationSec: 4.5, downloadUrl: 'https://redacted.invalid/' },
  });
  const receiver = createReceiver({
    ...{ secret: TEST_SECRET, now: () => fixture.at ?? 0 },
    on: { 'generation.completed': ({ data }) => void new URL(data.downloadUrl) },
  });
  expect(await receiver(fixture)).toMatchObject({ status: 200 });
}

describe('captures export', () => {
  it('a fixture lacks the redacted fields, and a receiver with the test secret accepts it', async () => {
    const fields = ['--redact', 'data.downloadUrl', '--redact', 'data.clipId', '--sign-with', 'file:test-secret.txt'];
    const { exitCode, records } = await cli.run(['captures', 'export', 'delivery.http', 'fixture.http', ...fields]);
    expect(exitCode).toBe(0);
    expect(records).toEqual([
      {
        ...{ kind: 'exported', source: 'delivery.http', file: 'fixture.http' },
        ...{ redacted: ['data.downloadUrl', 'data.clipId'], missing: [] },
      },
    ]);
    await expectFixture(inCwd('fixture.http'));
  });

  it('a field that the body does not have is named, with exit code 1', async () => {
    const fields = ['--redact', 'data.downloadURL', '--sign-with', 'file:test-secret.txt'];
    expect(await cli.run(['captures', 'export', 'delivery.http', 'fixture.http', ...fields])).toMatchObject({
      exitCode: 1,
      records: [{ redacted: [], missing: ['data.downloadURL'] }],
    });
  });

  it.each([
    [['delivery.http', 'delivery.http', ...SIGNING], 3, 'there is a file in its place'],
    [['delivery.http', 'new.http'], 2, 'say what is left out'],
    [['delivery.http', 'new.http', '--redact', 'data.x'], 2, 'give both --redact and --sign-with'],
    [['delivery.http', 'new.http', '--redact', 'id', '--sign-with', 'env:HOME'], 2, 'Every receiver checks id'],
    [['delivery.http', 'new.http', '--redact', 'data..x', '--sign-with', 'env:HOME'], 2, 'names with dots'],
    [['text.http', 'new.http', ...SIGNING, '--sign-unverified'], 3, 'its body is no JSON'],
    [['forged.http', 'new.http', ...SIGNING], 2, '--sign-unverified'],
    [['delivery.http', 'new.http', ...SIGNING, '--secret', 'file:test-secret.txt'], 2, 'signature_mismatch'],
  ])('the arguments %j exit with %i, and nothing is written', async (args, exitCode, says) => {
    writeFileSync(inCwd('text.http'), 'POST / HTTP/1.1\r\n\r\nno JSON');
    writeFileSync(inCwd('forged.http'), 'POST / HTTP/1.1\r\n\r\n{"id":"evt_7"}');
    const ended = await cli.run(['captures', 'export', ...args]);
    expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(says) });
    expect(existsSync(inCwd('new.http'))).toBe(false);
  });

  it('an unverified capture is signed only with --sign-unverified', async () => {
    const args = ['captures', 'export', 'delivery.http', 'fixture.http', ...SIGNING];
    const env = { WEBHOOK_SECRET: undefined };
    expect(await cli.run(args, { env })).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('no secret') });
    expect((await cli.run([...args, '--sign-unverified'], { env })).exitCode).toBe(0);
    await expectFixture(inCwd('fixture.http'));
  });
});

describe('listen --capture --redact', () => {
  it('the app gets what came, and the file lacks the redacted fields', async () => {
    const app = await serveApp();
    const listen = cli.start(['listen', app.url, '--port', '0', '--capture=kept', ...SIGNING]);
    const { url } = await listen.next('listening');
    await fetch(`${url}hook`, { ...delivery, body: Buffer.from(delivery.body) });
    const { file } = await listen.next('delivery');
    const [got] = app.got as [Got];
    expect(got.body).toEqual(Buffer.from(delivery.body));
    await expectFixture(inCwd(String(file)));
  });

  it('an unverified request is not captured, since signing would make it genuine', async () => {
    const listen = cli.start(['listen', '--port', '0', '--capture=kept', ...SIGNING]);
    const { url } = await listen.next('listening');
    await fetch(String(url), { ...delivery, body: 'other' });
    expect(await listen.next('delivery')).toMatchObject({ verdict: 'signature_mismatch' });
    expect(readdirSync(inCwd('kept')).filter((name) => name.endsWith('.http'))).toEqual([]);
  });

  it.each([
    [[...SIGNING], { WEBHOOK_SECRET: SECRET }, '--redact is about --capture'],
    [['--capture', '--redact', 'data.x'], { WEBHOOK_SECRET: SECRET }, 'give both --redact and --sign-with'],
    [['--capture', ...SIGNING], { WEBHOOK_SECRET: undefined }, '--redact keeps what is verified'],
  ])('the options %j exit with 2', async (args, env, says) => {
    expect(await cli.run(['listen', '--port', '0', ...args], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(says),
    });
  });
});

describe('replay --redact', () => {
  it('the delivery is sent without the fields, and its signature is valid', async () => {
    const app = await serveApp();
    const { exitCode } = await cli.run(['replay', 'delivery.http', app.url, '--redact', 'data.downloadUrl']);
    expect(exitCode).toBe(0);
    const [got] = app.got as [Got];
    const { event } = verify({ headers: got.headers, body: got.body, secret: SECRET });
    expect(event).toMatchObject({ id: 'evt_7', data: { downloadUrl: 'https://redacted.invalid/', durationSec: 4.5 } });
    expect(got.headers['x-forwarded-for']).toBeUndefined();
  });

  it('--exact is refused', async () => {
    const ended = await cli.run(['replay', 'delivery.http', '1', '--exact', '--redact', 'data.x']);
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--exact sends every byte') });
  });
});

const URL_OF = 'https://redacted.invalid/';

describe('the redaction of JSON by --redact', () => {
  it.each<[string, string[], string]>([
    ['{"data": {"url": "x", "n": 1.50}}', ['data.url'], '{"data": {"url": "redacted", "n": 1.50}}'],
    ['{"a":"https://x.example/?sig=1","b":"http:\\/\\/x"}', ['a', 'b'], `{"a":"${URL_OF}","b":"${URL_OF}"}`],
    [
      '{"a":-1.5e3,"b":true,"c":null,"d":12345678901234567890}',
      ['a', 'b', 'c'],
      '{"a":0,"b":false,"c":null,"d":12345678901234567890}',
    ],
    ['{"a":{"b":[1,{"c":"}"}]},"d":[ "]" , 2 ],"e":1}', ['a', 'd'], '{"a":{},"d":[],"e":1}'],
    ['{"w":[{"t":"a","s":1},{"t":"b"}],"t":"c"}', ['w.*.t'], '{"w":[{"t":"redacted","s":1},{"t":"redacted"}],"t":"c"}'],
    ['{"w":["a","b","c"]}', ['w.1'], '{"w":["a","redacted","c"]}'],
    ['{"a":"one","a":"two"}', ['a'], '{"a":"redacted","a":"redacted"}'],
    ['{"\\u0061":"x","b\\"":"y"}', ['a', 'b"'], '{"\\u0061":"redacted","b\\"":"redacted"}'],
    ['{"a":"ends with \\\\","b":"x"}', ['a'], '{"a":"redacted","b":"x"}'],
    ['{"a":{"b":"x"},"b":"y"}', ['b'], '{"a":{"b":"x"},"b":"redacted"}'],
    ['{"__proto__":"x"}', ['__proto__'], '{"__proto__":"redacted"}'],
    ['"text"', ['a'], '"text"'],
  ])('the text %s with the fields %j redacted is otherwise unchanged', (text, fields, redacted) => {
    expect(redactJson(text, fields)).toMatchObject({ text: redacted, found: text === '"text"' ? [] : fields });
  });

  it('the result lists the given fields that were found, also where two are the same', () => {
    expect(redactJson('{"a":{"b":1}}', ['a.*', 'x', 'a.b']).found).toEqual(['a.*', 'a.b']);
  });

  it('a named field is replaced and all else kept, in any JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), fc.nat(3), (rest, value, indent) => {
        const whole = { ...rest, before: [rest], named: value, after: rest };
        const { text, found } = redactJson(JSON.stringify(whole, null, indent), ['named']);
        const { named, ...others } = JSON.parse(text);
        expect(others).toEqual(JSON.parse(JSON.stringify({ ...rest, before: [rest], after: rest })));
        expect(typeof named).toBe(typeof value);
        expect(['"redacted"', `"${URL_OF}"`, '0', 'false', 'null', '{}', '[]']).toContain(JSON.stringify(named));
        expect(found).toEqual(['named']);
      }),
    );
  });

  it('JSON nested deeper than any stack is redacted', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)},"b":"x"}`;
    expect(redactJson(deep, ['b']).text).toBe(deep.replace('"x"', '"redacted"'));
    expect(redactJson(deep, ['a']).text).toBe('{"a":[],"b":"x"}');
  });
});
