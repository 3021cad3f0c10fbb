import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createReceiver } from 'service-webhooks';
import { readDelivery } from 'service-webhooks/testing';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aDelivery, NOW, SECRET } from '../../../../../test/support/deliveries.js';
import { capturedAt } from '../../../src/captures.js';
import type { SentMessage } from '../../../src/page/page-source.js';
import { exportRequest, isExportForm } from '../../../src/page/server/exported-request.js';

const signed = aDelivery({ at: NOW });
const aMessage = (changes: Partial<SentMessage> = {}): SentMessage => ({
  ...{ method: 'POST', path: '/hook', url: 'http://127.0.0.1:3000/hook', at: NOW },
  headers: [['Host', '127.0.0.1:3000'], ...Object.entries(signed.headers)],
  body: Buffer.from(signed.body as string),
  ...changes,
});
const textOf = (form: 'http' | 'curl' | 'test', message = aMessage()) =>
  String(exportRequest(form, '42', message).content);

describe('an exported request', () => {
  it('a .http file can be read by a test, and its name says when it came', async () => {
    const { name, content } = exportRequest('http', '42', aMessage());
    expect(name).toMatch(/^\d{8}T\d{6}\.\d{3}Z-0000002a\.http$/);
    expect(capturedAt(name)).toBe(NOW);
    const delivery = readDelivery(content);
    const receiver = createReceiver({ secret: SECRET, on: {}, now: () => delivery.at ?? 0, logger: false });
    expect((await receiver(delivery)).status).toBe(200);
    expect(capturedAt(exportRequest('http', '-7', aMessage()).name)).toBe(NOW);
  });

  it.each([
    ['the body of a delivery', Buffer.from(signed.body as string)],
    ['quotes and backslashes', Buffer.from(`it's "a" \\n $HOME \`id\` %s @file !!`)],
    ['several lines and another script', Buffer.from('@a\n\tß→\r\n')],
    ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['nothing', Buffer.of()],
  ])('a curl command sends the same bytes again: %s', async (_, body) => {
    const got: { headers: NodeJS.Dict<unknown>; body: Buffer }[] = [];
    const app = createServer(async (req, res) => {
      got.push({ headers: req.headers, body: Buffer.concat(await req.toArray()) });
      res.end();
    });
    await once(app.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void app.close());
    const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/hook`;
    const command = textOf('curl', aMessage({ body, url }));
    await promisify(execFile)('sh', ['-c', command]);
    expect(got).toMatchObject([{ headers: { 'content-length': String(body.length) } }]);
    expect(got[0]?.body.equals(body)).toBe(true);
    expect(got[0]?.headers['x-service-signature-v2']).toBe(
      aMessage().headers.find(([name]) => /-v2$/i.test(name))?.[1],
    );
  });

  it('a curl command leaves out headers that could act on a terminal', () => {
    const evil: [string, string][] = [['x-a', '\u009b201~rm -rf /'], ['x-b', '\u001b[201~'], ['x-c', 'fine']]; // biome-ignore format: one list
    const command = textOf('curl', aMessage({ headers: evil, body: Buffer.from('\u001b[201~\nrm') }));
    expect(command).toMatch(/^[ -~]+$/);
    expect(command).toContain("-H 'x-c: fine'");
    expect(command).not.toContain('x-a');
  });

  it('the form test is a Node test that reads the .http file', () => {
    const text = textOf('test');
    expect(text).toContain("readFileSync('test/");
    expect(text).toContain('-0000002a.http');
    expect(text).toContain('test("stt.completed is accepted"');
    expect(ts.transpileModule(text, { reportDiagnostics: true }).diagnostics).toEqual([]);
  });

  it.each(['"); process.exit(1); ("', '\u2028', 'a'.repeat(81), ''])(
    'a test has no part of the hostile type %j in it',
    (type) => {
      const text = textOf('test', aMessage({ body: Buffer.from(JSON.stringify({ type })) }));
      expect(text).toContain('test("the delivery is accepted"');
    },
  );

  it('there are three forms of export', () => {
    expect(['http', 'curl', 'test', 'constructor', ''].map(isExportForm)).toEqual([true, true, true, false, false]);
  });
});
