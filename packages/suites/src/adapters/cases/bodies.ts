import { tamper } from 'service-webhooks/testing';
import { must } from '../../define-suite.js';
import { type AdapterTrialCase, aDelivery, anEvent, aRequest, mustAnswer, mustBeBytes } from '../trial.js';

const utf8 = new TextEncoder();

/** Content types that a parser of the framework may treat differently. */
const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/problem+json',
  'text/plain',
  'application/octet-stream',
  undefined,
];

export const bodies: readonly AdapterTrialCase[] = [
  {
    name: 'the work receives the exact bytes that were sent',
    rules: ['A1'],
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery();
      await mustAnswer(app, aRequest(delivery), '200', 'a signed delivery must be answered with 200');
      must(app.worked.length === 1, 'its work must be done once', app.worked.length);
      mustBeBytes(app.worked[0]?.body, delivery.body);
    },
  },
  {
    name: 'a body that is not UTF-8 is verified as it is',
    rules: ['A1'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const body = Uint8Array.from([...utf8.encode('{"id":"evt_1'), 0xff, 0xc3, 0x28, 0x00, 0x22, 0x7d]);
      const sent = aRequest(aDelivery({ body }));
      await mustAnswer(app, sent, '400 invalid_encoding', 'its signature must be valid, and its encoding be refused');
    },
  },
  {
    name: 'a byte order mark is verified as part of the body',
    rules: ['A1'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery({ body: `\ufeff${anEvent()}` });
      const { status, text } = await app.send(aRequest(delivery));
      must(!text.includes('signature_mismatch'), 'the signature must be valid', { status, text });
    },
  },
  {
    name: 'a body that arrives in chunks, without a length and split within a character, is verified',
    rules: ['A1'],
    skip: ({ without }) => without?.pieces,
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery();
      const pieces = Array.from(delivery.body, (byte) => Uint8Array.of(byte));
      await mustAnswer(app, { ...aRequest(delivery), body: pieces }, '200', 'it must be answered with 200');
      mustBeBytes(app.worked[0]?.body, delivery.body);
    },
  },
  {
    name: 'an empty body is read as empty',
    rules: ['A1'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const request = aRequest(aDelivery({ body: '' }));
      await mustAnswer(app, request, '400 invalid_json', 'its signature must be valid, and its body no JSON');
    },
  },
  {
    name: 'the body is parsed as JSON only after its signature is verified',
    rules: ['A1'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery({ body: '{"id": ' });
      const signed = aRequest(delivery);
      const flipped = aRequest(tamper.flippedBit(aDelivery()));
      const unsigned = aRequest({ ...delivery, headers: {} });
      await mustAnswer(app, signed, '400 invalid_json', 'what is signed and no JSON must be refused for that');
      await mustAnswer(app, flipped, '401 signature_mismatch', 'one flipped bit must be refused for the signature');
      await mustAnswer(app, unsigned, '401 missing_signature', 'what is neither must be refused for the signature');
    },
  },
  {
    name: 'an event with a key such as __proto__ is accepted',
    rules: ['A1'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      const delivery = aDelivery({ body: anEvent(', "__proto__": { "x": 1 }') });
      await mustAnswer(app, aRequest(delivery), '200', 'it must be answered with 200');
    },
  },
  {
    name: 'a body of 5 MiB is accepted, whatever the default limit of the framework is',
    rules: ['A2'],
    async run(trial) {
      const app = await trial.start();
      const body = new Uint8Array(5 * 1024 * 1024).fill(0x20);
      body.set(utf8.encode(anEvent())); // with spaces after it, the body is still JSON
      await mustAnswer(app, aRequest(aDelivery({ body })), '200', 'it must be answered with 200');
    },
  },
  {
    name: 'a body is accepted with any content type',
    rules: ['A2'],
    skip: ({ without }) => without?.unparsed,
    async run(trial) {
      const app = await trial.start();
      for (const type of CONTENT_TYPES) {
        const request = aRequest(aDelivery(), { 'content-type': type });
        await mustAnswer(app, request, '200', `as ${type} it must be answered with 200`);
      }
    },
  },
  {
    name: 'a body whose content length is over the limit is refused',
    rules: ['A2', 'A3'],
    async run(trial) {
      const delivery = aDelivery({ body: anEvent(`, "x": "${'x'.repeat(200_000)}"`) });
      const tight = await trial.start({ maxBodyBytes: delivery.body.length - 1 });
      await mustAnswer(tight, aRequest(delivery), '413 body_too_large', 'one byte over the limit must be refused');
      const wide = await trial.start({ maxBodyBytes: delivery.body.length });
      await mustAnswer(wide, aRequest(delivery), '200', 'a body as long as the limit must be accepted');
    },
  },
  {
    name: 'a body that grows over the limit is refused',
    rules: ['A2', 'A3'],
    skip: ({ without }) => without?.pieces,
    async run(trial) {
      const app = await trial.start({ maxBodyBytes: 20_000 });
      const pieces = Array.from({ length: 50 }, () => new Uint8Array(1_000));
      await mustAnswer(app, { ...aRequest(), body: pieces }, '413 body_too_large', 'it must be refused for its size');
    },
  },
];
