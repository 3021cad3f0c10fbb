import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileTogether, strictOptions } from '../support/compile.js';
import { ROOT } from '../support/markdown.js';

const DECLARED = `
import 'service-webhooks';
interface Transcript { text: string; language?: string }
declare module 'service-webhooks' {
  interface EventData {
    'stt.completed': Transcript;
    'generation.completed': { clipId: string; voice: string };
  }
}`;

const IMPORTS = `
import { createReceiver, isEvent, isKnownEvent, verify, type Delivery, type EventOf, type EventType, type HandlerOf, type WebhookEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import { bullmqProcessor } from 'service-webhooks/queue/bullmq';
import { withSchemas } from 'service-webhooks/standard-schema';
import { sampleEvent, signDelivery } from 'service-webhooks/testing';
import * as z from 'zod';
declare const event: WebhookEvent; declare const secret: string; declare const type: EventType;
`;

/** The problems of a program, one line after the imports, next to the declarations of another file. */
function problemsOf(code: string, declarations = DECLARED): string[] {
  const programs = new Map([
    [join(ROOT, '.event-data/program.ts'), `${IMPORTS.replaceAll('\n', ' ')}\n${code}`],
    [join(ROOT, '.event-data/webhooks.d.ts'), declarations],
  ]);
  const options = { ...strictOptions(), noUnusedLocals: false, noPropertyAccessFromIndexSignature: false };
  return compileTogether(programs, options).map((problem) => problem.replace(/^[^:]*:/, ''));
}

describe('declared data', () => {
  it('event.data has its type everywhere', () => {
    const right = `
      const on = { 'stt.completed': (event: EventOf<'stt.completed'>) => event.data.text.length };
      createReceiver({ secret, on: { 'stt.completed': ({ data }) => data.text.length, 'generation.completed': ({ data }) => data.voice.length } });
      webhookHandler({ secret, on });
      bullmqProcessor({ on: { ...on, '*': (other) => { if (other.type === 'stt.completed') other.data.text.trim(); } } });
      export const onText: HandlerOf<'stt.completed'> = ({ data: { language } }, { delivery }) => [language?.trim(), delivery.event.data.text];
      if (event.type === 'stt.completed') event.data.text.trim();
      if (isEvent(event, 'stt.completed')) event.data.text.trim();
      if (isEvent(event, 'stt.failed')) void event.data.reason;
      if (isKnownEvent(event)) void event.jobId;
      const sample = sampleEvent('stt.completed', { data: { text: '' } });
      sample.data.text.trim();
      signDelivery({ event: sample, secret });
      signDelivery({ event: sampleEvent(type), secret });
      const delivery: Delivery = verify({ headers: {}, body: '', secret });
      if (delivery.event.type === 'generation.completed') delivery.event.data.voice.trim();`;
    expect(problemsOf(right)).toEqual([]);
  });

  it.each<[string, string, string]>([
    [
      'a misspelt field',
      "createReceiver({ secret, on: { 'stt.completed': ({ data }) => data.txt } })",
      "2 Property 'txt' does not exist on type 'Transcript'. Did you mean 'text'?",
    ],
    [
      'an optional field',
      "createReceiver({ secret, on: { 'stt.completed': ({ data }) => data.language.trim() } })",
      "2 'data.language' is possibly 'undefined'.",
    ],
    [
      'a documented field that the declaration lacks',
      "if (event.type === 'generation.completed') void event.data.downloadUrl",
      "2 Property 'downloadUrl' does not exist on type '{ clipId: string; voice: string; }'.",
    ],
    [
      'a sample with another type',
      "sampleEvent('stt.completed', { data: { text: 1 } })",
      "2 Type 'number' is not assignable to type 'string'.",
    ],
    [
      'data that nothing declares',
      "createReceiver({ secret, on: { 'dubbing.completed': ({ data }) => data.text.trim() } })",
      "2 'data.text' is of type 'unknown'.",
    ],
  ])('the compiler explains %s', (_, code, message) => {
    expect(problemsOf(code)).toEqual([message]);
  });

  it('a schema goes first, and types without one keep their declaration', () => {
    const both = `
      withSchemas({ 'stt.completed': z.object({ words: z.array(z.string()) }) }, {
        'stt.completed': ({ data }) => data.words.length,
        'generation.completed': ({ data }) => data.voice.length,
        'stt.failed': ({ data }) => { const value: unknown = data.reason; return value; },
      });
      const schema = z.object({ text: z.string(), seconds: z.number() });
      if (isEvent(event, 'stt.completed', schema)) event.data.seconds.toFixed();
      sampleEvent('stt.completed', { data: { text: '', seconds: 1 } }, schema).data.seconds.toFixed();`;
    expect(problemsOf(both)).toEqual([]);
    const wrong =
      "withSchemas({ 'stt.completed': z.object({ words: z.string() }) }, { 'stt.completed': ({ data }) => data.text })";
    expect(problemsOf(wrong)).toEqual(["2 Property 'text' does not exist on type '{ words: string; }'."]);
  });

  it('the schemas do without a declaration', () => {
    const code =
      "withSchemas({ 'stt.completed': z.object({ words: z.string() }) }, { 'stt.completed': ({ data }) => data.words.trim() })";
    expect(problemsOf(code, '')).toEqual([]);
  });

  it('the declaration of a misspelt type changes nothing', () => {
    const misspelt = DECLARED.replace("'stt.completed'", "'stt.complete'");
    const code = "createReceiver({ secret, on: { 'stt.completed': ({ data }) => data.text.trim() } })";
    expect(problemsOf(code, misspelt)).toEqual(["2 'data.text' is of type 'unknown'."]);
  });
});
