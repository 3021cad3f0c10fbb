import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERRORS, PAYLOAD_VERSION, PermanentError, parseEvent, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aReceiver, aRequest, bodyOf } from './support/deliveries.js';
import { readRecordings } from './support/fixtures.js';
import { eventSchema, fits, openapi, schemasDirectory } from './support/schemas.js';

const recordings = readRecordings();

describe('the JSON Schema of the events', () => {
  it('the definitions are those of the event types', () => {
    expect(Object.keys(eventSchema['$defs'])).toEqual(WEBHOOK_EVENT_TYPES);
  });

  it.each(recordings)('the recorded $type matches the definition of its type and no other', ({ type, body }) => {
    const event = parseEvent(body);
    expect(fits('event.json', event)).toBe(true);
    expect(WEBHOOK_EVENT_TYPES.filter((other) => fits(`event.json#/$defs/${other}`, event))).toEqual([type]);
  });

  it.each(WEBHOOK_EVENT_TYPES)('jobId is null for trigger.failed and a string for the others: %s', (type) => {
    const data = { clipId: 'clip_1', feature: 'x', durationSec: 1, downloadUrl: 'x' };
    const event = parseEvent(bodyOf({ type, data }));
    const accepted = ['job_1', null].filter((jobId) =>
      [`event.json#/$defs/${type}`, `openapi.json#/components/schemas/${type}`].every((place) =>
        fits(place, { ...event, jobId }),
      ),
    );
    expect(accepted).toEqual([type === 'trigger.failed' ? null : 'job_1']);
    expect(fits('event.json', { ...event, jobId: null })).toBe(true);
    expect(fits('event.json', { ...event, jobId: 'job_1' })).toBe(true);
  });
});

describe('the OpenAPI document of the webhooks', () => {
  it('every header that the service always sends is required', () => {
    const headers = Object.values<{ name: string; in: string; required?: boolean }>(openapi['components'].parameters);
    expect(headers.map(({ name, in: place, required }) => [name, place, required])).toEqual(
      [
        'X-Service-Signature-V2',
        'X-Service-Signature',
        'X-Service-Timestamp',
        'X-Service-Webhook-Id',
        'X-Service-Attempt',
        'Idempotency-Key',
      ].map((name) => [name, 'header', true]),
    );
    // OpenAPI ignores a parameter named Content-Type: the request body says it.
    for (const type of WEBHOOK_EVENT_TYPES) {
      const { parameters, requestBody } = openapi['webhooks'][type].post;
      expect([parameters.length, requestBody.required]).toEqual([headers.length, true]);
      expect(Object.keys(requestBody.content)).toEqual(['application/json']);
    }
  });

  it('the schema of OpenAPI 3.1 accepts the document', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(openapi))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('the document is invalid once its info is removed', async () => {
    const { valid } = await new Validator().validate({ ...structuredClone(openapi), info: {} });
    expect(valid).toBe(false);
  });

  it('each event type has a webhook, and the version is that of the payloads', () => {
    expect(Object.keys(openapi['webhooks'])).toEqual(WEBHOOK_EVENT_TYPES);
    expect(openapi['info'].version).toBe(PAYLOAD_VERSION);
  });

  it('every reference resolves', () => {
    const references = [...JSON.stringify(openapi).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    const broken = references.filter((path) => !path.split('/').reduce((part, key) => part?.[key], openapi));
    expect(references.length).toBeGreaterThan(100);
    expect(broken).toEqual([]);
  });

  it.each(recordings)(
    'the headers and the body of the recorded $type match the document',
    ({ type, headers, body }) => {
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
    },
  );

  it('each error code is listed under its status', () => {
    const { Accepted: _, ...refusals } = openapi['components'].responses;
    const listed = Object.entries<(typeof refusals)[string]>(refusals).flatMap(([status, { content }]) =>
      content['application/json'].schema.properties.error.properties.code.enum.map((code: string) => [
        code,
        Number(status),
      ]),
    );
    // Some are only thrown, those about jobs by a worker; `permanent_failure` is acknowledged with 200.
    const unanswered = [
      'sync_crypto_unavailable',
      'unreadable_job',
      'body_unavailable',
      'job_timeout',
      'permanent_failure',
    ];
    const answered = Object.entries(ERRORS)
      .filter(([code]) => !unanswered.includes(code))
      .map(([code, { status }]) => [code, status]);
    expect(listed.toSorted()).toEqual(answered.toSorted());
  });

  it('the answers of a receiver to accepted deliveries match the document', async () => {
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
    expect(outcomes).toEqual(['handled', 'duplicate', 'discarded', 'ignored']);
    expect(outcomes.toSorted()).toEqual(openapi['components'].schemas.Acceptance.properties.outcome.enum.toSorted());
  });
});

it('scripts/make-schemas.mjs writes exactly the bytes in the repository', () => {
  const directory = mkdtempSync(join(tmpdir(), 'schemas-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/make-schemas.mjs', import.meta.url)), directory]);
  const contents = (folder: string) =>
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
  expect(contents(directory)).toEqual(contents(schemasDirectory));
});
