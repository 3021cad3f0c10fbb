import { type } from 'arktype';
import type { StandardSchemaV1 } from 'service-webhooks/standard-schema';
import * as v from 'valibot';
import * as z from 'zod';
import * as z3 from 'zod/v3';

/** A transcript as these schemas accept it. */
export const TRANSCRIPT = {
  text: 'Hello',
  createdAt: '2026-07-11T12:00:00Z',
  segments: [{ start: 0, text: 'Hello' }],
};

/** What handlers get of it. */
export interface Transcript {
  text: string;
  createdAt: Date;
  language: string;
  segments: { start: number; text: string }[];
}

type TranscriptSchema = StandardSchemaV1<unknown, Transcript>;

const ofZod = z.object({
  text: z.string(),
  createdAt: z.iso.datetime().transform((text) => new Date(text)),
  language: z.string().default('en'),
  segments: z.array(z.object({ start: z.number(), text: z.string() })),
});

const ofZod3 = z3.object({
  text: z3.string(),
  createdAt: z3
    .string()
    .datetime()
    .transform((text) => new Date(text)),
  language: z3.string().default('en'),
  segments: z3.array(z3.object({ start: z3.number(), text: z3.string() })),
});

const inValibot = {
  text: v.string(),
  createdAt: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.transform((text) => new Date(text)),
  ),
  language: v.optional(v.string(), 'en'),
  segments: v.array(v.object({ start: v.number(), text: v.string() })),
};

/** The same schema of each library, synchronous and asynchronous. */
export const LIBRARIES: Record<string, TranscriptSchema> = {
  Zod: ofZod,
  'Zod, asynchronous': ofZod.refine(async () => true),
  'Zod 3': ofZod3,
  Valibot: v.object(inValibot),
  'Valibot, asynchronous': v.objectAsync({
    ...inValibot,
    text: v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    ),
  }),
  ArkType: type({
    text: 'string',
    createdAt: 'string.date.iso.parse',
    language: "string = 'en'",
    segments: type({ start: 'number', text: 'string' }).array(),
  }),
};
