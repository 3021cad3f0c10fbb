import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { PAYLOAD_VERSION, PermanentError, parseEvent, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { afterAll, describe, expect, it } from 'vitest';
import { aReceiver, aRequest, bodyOf } from './support/deliveries.js';
import { ERROR_STATUS } from './support/error-status.js';
import { readRecordings } from './support/fixtures.js';
import { eventSchema, fits, openapi, schemasDirectory } from './support/schemas.js';

const recordings = readRecordings();

describe('the JSON Schema of the events', () => {
  it('has a definition for each type, and no other', () => {
    expect(Object.keys(eventSchema['$defs'])).toEqual(WEBHOOK_EVENT_TYPES);
  });

  it.each(recordings)('takes the recorded $type as an event of its own type alone', ({ type, body }) => {
    const event = parseEvent(body);
    expect(fits('event.json', event)).toBe(true);
    expect(WEBHOOK_EVENT_TYPES.filter((other) => fits(`event.json#/$defs/${other}`, event))).toEqual([type]);
  });
});

describe('the OpenAPI document', () => {
  it('is one, by the schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(openapi))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('is not, with one thing wrong', async () => {
    const { valid } = await new Validator().validate({ ...structuredClone(openapi), info: {} });
    expect(valid).toBe(false);
  });

  it('has a webhook for each type and the version of the payloads', () => {
    expect(Object.keys(openapi['webhooks'])).toEqual(WEBHOOK_EVENT_TYPES);
    expect(openapi['info'].version).toBe(PAYLOAD_VERSION);
  });

  it('refers to nothing that is not there', () => {
    const references = [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    const broken = references.filter((path) => !path.split('/').reduce((part, key) => part?.[key], openapi));
    expect(references.length).toBeGreaterThan(100);
    expect(broken).toEqual([]);
  });

  it.each(recordings)('describes the recorded $type: its headers and its body', ({ type, headers, body }) => {
    expect(
      fits(`openapi.json#/webhooks/${type}/post/requestBody/content/application~1json/schema`, parseEvent(body)),
    ).toBe(true);
    for (const [name, { required, schema }] of Object.entries<{ required?: boolean; schema: { type: string } }>(
      openapi['components'].parameters,
    )) {
      const value = headers.find(([header]) => header === name)?.[1];
      if (required) expect(value, name).toBeDefined();
      const typed = schema.type === 'integer' ? Number(value) : value;
      expect(fits(`openapi.json#/components/parameters/${name}/schema`, typed), name).toBe(true);
    }
  });

  it('names each code that can be answered, under its status', () => {
    const { Accepted: _, ...refusals } = openapi['components'].responses;
    const listed = Object.entries<(typeof refusals)[string]>(refusals).flatMap(([status, { content }]) =>
      content['application/json'].schema.properties.error.properties.code.enum.map((code: string) => [
        code,
        Number(status),
      ]),
    );
    // Thrown by verify and sign alone; acknowledged with 200.
    const { sync_crypto_unavailable: _thrown, permanent_failure: _acknowledged, ...answered } = ERROR_STATUS;
    expect(Object.fromEntries(listed)).toEqual(answered);
  });

  it('describes what is answered to a delivery that was accepted', async () => {
    const refusing = () => {
      throw new PermanentError('not ours');
    };
    const { receiver } = aReceiver({ on: { 'stt.completed': () => {}, 'stt.failed': refusing } });
    const types = ['stt.completed', 'stt.completed', 'stt.failed', 'a.future.type'];
    const outcomes = [];
    for (const [index, type] of types.entries()) {
      const id = `evt_${Math.max(index, 1)}`;
      const { status, body } = await receiver(aRequest({ body: bodyOf({ id, type }) }));
      expect(status).toBe(200);
      const answer = JSON.parse(body);
      expect(fits('openapi.json#/components/schemas/Acceptance', answer)).toBe(true);
      outcomes.push(answer.outcome);
    }
    expect(outcomes).toEqual(['handled', 'duplicate', 'rejected', 'ignored']);
    expect(outcomes.toSorted()).toEqual(openapi['components'].schemas.Acceptance.properties.outcome.enum.toSorted());
  });
});

describe('the script that makes the schemas', () => {
  const directory = mkdtempSync(join(tmpdir(), 'schemas-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('makes exactly the bytes that are in the repository', () => {
    execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/make-schemas.mjs', import.meta.url)), directory]);
    expect(readdirSync(directory)).toEqual(readdirSync(schemasDirectory));
    for (const file of readdirSync(directory)) {
      expect(readFileSync(join(directory, file), 'utf8'), file).toBe(
        readFileSync(join(schemasDirectory, file), 'utf8'),
      );
    }
  });
});
