import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import { webhookHandler as nodeHandler } from 'service-webhooks/node';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { serveListener } from '../../../test/support/app.js';
import { SECRET } from '../../../test/support/deliveries.js';
import { deliverAsService } from '../src/http/deliver.js';
import { byHand, parsedAgain } from './broken-receivers.js';
import { inside, useCli } from './support/cli.js';
import { lineInTerminal } from './support/pseudo-terminal.js';

const cli = useCli();

interface Mistake {
  name: string;
  /** The app that makes it; undefined where none runs. */
  app: (() => RequestListener) | undefined;
  /** What every command says is the cause. */
  cause: RegExp;
  /** What every command says there is to do. */
  fix: RegExp;
}

const handler = (options: object = {}) =>
  webhookHandler({ secret: SECRET, logger: false, on: { '*': () => {} }, ...options });

/** A clock that is ten minutes behind, in the receiver and in the header of every answer. */
const tenMinutesBehind = (): RequestListener => {
  const now = () => Date.now() - 600_000;
  const receive = nodeHandler({ secret: SECRET, logger: false, now, on: { '*': () => {} } });
  return (req, res) => {
    res.setHeader('date', new Date(now()).toUTCString());
    receive(req, res);
  };
};

/** A proxy that compresses requests on their way to the receiver. */
const compressing = (): RequestListener => {
  const receiver = createReceiver({ secret: SECRET, logger: false, on: { '*': () => {} } });
  return async (req, res) => {
    const body = gzipSync(Buffer.concat(await req.toArray()));
    const { status, ...answer } = await receiver({
      method: 'POST',
      headers: { ...req.headers, 'content-encoding': 'gzip' },
      body,
    });
    res.writeHead(status, { ...answer.headers }).end(answer.body);
  };
};

const MISTAKES: readonly Mistake[] = [
  {
    name: 'express.json() before the receiver',
    app: () => express().use(express.json()).post('/webhooks', handler()),
    cause: /body parser ran first/,
    fix: /mount the receiver above the body parser/,
  },
  {
    name: 'a receiver that verifies JSON.stringify(req.body)',
    app: () => express().post('/webhooks', byHand({ signed: parsedAgain })),
    cause: /Your app parses the body first/,
    fix: /Verify the raw body/,
  },
  {
    name: 'a wrong secret',
    app: () => express().post('/webhooks', handler({ secret: 'whsec_of_another_endpoint' })),
    cause: /Your app has another secret/,
    fix: /Compare the secret of your app/,
  },
  {
    name: 'a 404',
    app: () => express().post('/hooks/audio', handler()),
    cause: /has no route for POST \/webhooks/,
    fix: /Name the path where your receiver is mounted, as in \d+\/api\/webhooks/,
  },
  {
    name: 'a 404 of another app',
    app: () => (req, res) =>
      void res.writeHead(req.method === 'GET' ? 200 : 404).end('<!doctype html><title>Grafana</title>'),
    cause: /Its title is "Grafana": if that is not your app, another app answers here/,
    fix: /Name the path where your receiver is mounted/,
  },
  {
    name: 'a redirect',
    app: () => (_, res) => void res.writeHead(308, { location: '/webhooks/' }).end(),
    cause: /The app redirects, and the service follows no redirect/,
    fix: /Use the final URL: \/webhooks\//,
  },
  {
    name: 'a handler that throws',
    app: () =>
      express().post(
        '/webhooks',
        handler({
          on: {
            '*': () => {
              throw new Error('no database');
            },
          },
        }),
      ),
    cause: /Your handler failed/,
    fix: /The log of the app has the details/,
  },
  {
    name: 'an app that is down',
    app: undefined,
    cause: /nothing listens there/,
    fix: /Start the app, or correct the port/,
  },
  {
    name: 'another header prefix',
    app: () => express().post('/webhooks', handler({ headerPrefix: 'x-vendor' })),
    cause: /signature headers with another prefix: the headers sent here begin with x-service/,
    fix: /Pass the prefix of your app with --header-prefix/,
  },
  {
    name: 'a proxy that compresses requests',
    app: compressing,
    cause: /The body is compressed, but the signature covers the plain bytes/,
    fix: /Check that no proxy compresses requests/,
  },
  {
    name: 'a clock that is ten minutes behind',
    app: tenMinutesBehind,
    cause: /The clock of your app is 10 minutes behind \(Date header\)/,
    fix: /Synchronise the clock/,
  },
  {
    name: 'a CSRF filter',
    app: () => (_, res) => void res.writeHead(403).end('Forbidden: invalid CSRF token'),
    cause: /A CSRF filter refuses the request/,
    fix: /Exempt this path from the CSRF filter/,
  },
  {
    name: 'a login in front of the receiver',
    app: () => (_, res) => void res.writeHead(401, { 'www-authenticate': 'Basic realm="staging"' }).end(),
    cause: /asks for a login/,
    fix: /Exempt this path from authentication/,
  },
];

/** The text of a terminal without colours, each run of white space as one space. */
const inWords = (shown: string) => withoutColours(shown).replaceAll(/\s+/g, ' ');
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours are made of
const withoutColours = (shown: string) => shown.replaceAll(/\u001b\[\d+m/g, '');

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  send: ['send', 'stt.completed'],
  dev: ['dev', '--port', '0', '--emit', 'stt.completed'],
  listen: ['listen', '--port', '0'],
  doctor: ['doctor'],
};

/** Runs a command on a terminal of that width, and has it deliver to the app. Returns what shows the text. */
async function atTerminal(command: string, app: string, columns: number) {
  const words = [...(COMMANDS[command] ?? []), app].join(' ');
  const terminal = lineInTerminal(cli, `stty cols ${columns}; exec service-webhooks ${words}`);
  if (command === 'listen') {
    const listening = () => /Listening on (http:\/\/[\w.:]+)\//.exec(inWords(terminal.text()))?.[1];
    await expect.poll(listening).toBeDefined();
    const url = listening();
    const delivery = signDelivery({ secret: SECRET, event: sampleEvent('stt.completed') });
    const { signal } = new AbortController();
    await deliverAsService(delivery, new URL('/webhooks', url), { timeoutMs: 10_000, signal });
  }
  return terminal;
}

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script') && !inside)('a mistake in an app', () => {
  describe.each(Object.keys(COMMANDS))('is explained by %s', (command) => {
    it.for(MISTAKES)('in that one command: $name', async ({ app, cause, fix }) => {
      const { port } = app ? await serveListener(app()) : { port: 1 };
      for (const columns of [60, 100]) {
        const terminal = await atTerminal(command, `http://127.0.0.1:${port}/webhooks`, columns);
        await expect.poll(() => inWords(terminal.text())).toMatch(fix);
        expect(inWords(terminal.text())).toMatch(cause);
        const explanation = withoutColours(terminal.text())
          .split('\r\n')
          .filter((line) => /^ {3}\S/.test(line));
        for (const line of explanation) expect(line.length, line).toBeLessThanOrEqual(columns);
        if (command === 'dev' || command === 'listen') terminal.type('\u0003');
        await terminal.ended;
      }
    });
  });

  it('is explained in a pipe too, as text', async () => {
    const { port } = await serveListener(express().use(express.json()).post('/webhooks', handler()));
    const { stdout } = await cli.shell(`service-webhooks send stt.completed ${port} | cat`);
    expect(stdout).toMatch(
      /^500 {2}not acknowledged .*body_already_parsed.*\n {3}A body parser ran first, .*\n {3}Pass/,
    );
  });

  it('is in the JSON lines as advice', async () => {
    const { port } = await serveListener(express().post('/webhooks', handler({ secret: 'another' })));
    const { records } = await cli.run(['send', 'stt.completed', `${port}`]);
    expect(records).toMatchObject([
      {
        kind: 'sent',
        status: 401,
        advice: { cause: 'other_secret', message: expect.any(String), fix: expect.any(String) },
      },
    ]);
  });
});
