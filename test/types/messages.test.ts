import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, strictOptions } from '../support/compile.js';
import { ROOT } from '../support/markdown.js';

interface Mistake {
  title: string;
  call: string;
  /** The lines with which the message of the compiler begins. */
  message: string;
}

const unknownOption = (name: string, type: string) =>
  `Object literal may only specify known properties, and '${name}' does not exist in type '${type}'.`;
const misspeltOption = (name: string, type: string, meant: string) =>
  `Object literal may only specify known properties, but '${name}' does not exist in type '${type}'. Did you mean to write '${meant}'?`;

const OF_HANDLERS: Mistake[] = [
  {
    title: 'a misspelt option of webhookHandler',
    call: 'webhookHandler({ secret, on: {}, toleranceSecond: 60 })',
    message: misspeltOption('toleranceSecond', 'OptionsWithOn', 'toleranceSeconds'),
  },
  {
    title: 'a misspelt option of webhookHandler with a queue',
    call: 'webhookHandler({ secret, queue, toleranceSecond: 60 })',
    message: misspeltOption('toleranceSecond', 'OptionsForQueue', 'toleranceSeconds'),
  },
  {
    title: 'handlers in place of on',
    call: 'webhookHandler({ secret, handlers: {} })',
    message: unknownOption('handlers', 'OptionsForQueue | OptionsWithOn'),
  },
  {
    title: 'a misspelt option of dedupe',
    call: 'webhookHandler({ secret, on: {}, dedupe: { leaseMS: 30_000 } })',
    message: misspeltOption('leaseMS', 'DedupeOptions', 'leaseMs'),
  },
  {
    title: 'a misspelt event type',
    call: "webhookHandler({ secret, on: { 'stt.complete': () => {} } })",
    message: unknownOption("'stt.complete'", 'Handlers'),
  },
  {
    title: 'a value that is no handler',
    call: "webhookHandler({ secret, on: { 'stt.completed': 'save' } })",
    message: `Type 'string' is not assignable to type 'HandlerOf<"stt.completed">'.`,
  },
  {
    title: 'the handler of another event',
    call: "webhookHandler({ secret, on: { 'stt.completed': onClip } })",
    message: [
      `Type 'HandlerOf<"generation.completed">' is not assignable to type 'HandlerOf<"stt.completed">'.`,
      `  Type '"stt.completed"' is not assignable to type '"generation.completed"'.`,
    ].join('\n'),
  },
  {
    title: 'one secret where a function returns a list',
    call: 'webhookHandler({ secret: async () => secret, on: {} })',
    message: [
      "Type '() => Promise<string>' is not assignable to type 'SecretSource | null'.",
      "  Type '() => Promise<string>' is not assignable to type '(hint: { webhookId?: string; }) => Promise<readonly Secret[] | TenantSecrets>'.",
    ].join('\n'),
  },
  {
    // For a missing property of an argument, TypeScript always begins with the types.
    title: 'a missing on',
    call: 'webhookHandler({ secret })',
    message: [
      "Argument of type '{ secret: string; }' is not assignable to parameter of type 'Receiver | EndpointOptions'.",
      "  Type '{ secret: string; }' is not assignable to type 'OptionsForQueue | OptionsWithOn'.",
      "    Property 'on' is missing in type '{ secret: string; }' but required in type 'OptionsWithOn'.",
    ].join('\n'),
  },
  {
    title: 'on together with a queue',
    call: 'webhookHandler({ secret, on: {}, queue })',
    message: "Type 'DeliveryQueue' is not assignable to type 'undefined'.",
  },
  {
    title: 'an environment variable that may be missing',
    call: "webhookHandler({ secret: process.env['WEBHOOK_SECRET'], on: {} })",
    message: "Type 'string | undefined' is not assignable to type 'SecretSource | null'.",
  },
];

/** `, route` is left out for the frameworks whose middleware calls `next()`. */
const OF_MIDDLEWARE: Mistake[] = [
  {
    title: 'a misspelt option of webhookMiddleware',
    call: 'webhookMiddleware({ secret, toleranceSecond: 60 }, route)',
    message: misspeltOption('toleranceSecond', 'MiddlewareOptions', 'toleranceSeconds'),
  },
  {
    title: 'on for a middleware',
    call: "webhookMiddleware({ secret, on: { 'stt.completed': () => {} } }, route)",
    message: "Type '{ 'stt.completed': () => void; }' is not assignable to type 'undefined'.",
  },
];

const OF_RECEIVERS: Mistake[] = [
  {
    title: 'a misspelt option of createReceiver',
    call: 'createReceiver({ secret, toleranceSecond: 60 })',
    message: misspeltOption('toleranceSecond', 'ReceiverOptions', 'toleranceSeconds'),
  },
  {
    title: 'a misspelt event type of createReceiver',
    call: "createReceiver({ secret, on: { 'stt.complete': () => {} } })",
    message: unknownOption("'stt.complete'", 'Handlers'),
  },
];

const SEVERAL_TYPES =
  '"generation.completed" | "generation.failed" | "stt.completed" | "stt.failed" | "export.completed" | "export.failed" | "trigger.completed" | "trigger.failed" | "dubbing.completed" | ... 7 more ... | UnknownEventType';

const OF_EVENTS: Mistake[] = [
  {
    title: 'a comparison with a misspelt event type',
    call: "void (event.type === 'generation.complete')",
    message: `This comparison appears to be unintentional because the types '${SEVERAL_TYPES}' and '"generation.complete"' have no overlap.`,
  },
  {
    title: 'a case of a misspelt event type',
    call: "switch (event.type) { case 'generation.complete': }",
    message: `Type '"generation.complete"' is not comparable to type '${SEVERAL_TYPES}'.`,
  },
  {
    title: 'a misspelt event type of isEvent',
    call: "isEvent(event, 'generation.complete')",
    message: `Argument of type '"generation.complete"' is not assignable to parameter of type 'EventType'.`,
  },
  {
    title: 'data of an event that was not narrowed',
    call: 'event.data.clipId.length',
    message: "'event.data.clipId' is of type 'unknown'.",
  },
  ...['EventOf', 'HandlerOf', 'HandlerContextOf'].map((name) => ({
    title: `a misspelt event type of ${name}`,
    call: `export type ${name}Misspelt = import('service-webhooks').${name}<'generation.complete'>`,
    message: `Type '"generation.complete"' does not satisfy the constraint 'EventType'.`,
  })),
];

const OF_DATA: Mistake[] = [
  {
    title: 'a field that a schema does not have',
    call: "withSchemas(schemas, { 'stt.completed': (event) => event.data.txt })",
    message: "Property 'txt' does not exist on type '{ text: string; }'. Did you mean 'text'?",
  },
  {
    title: 'a schema for a misspelt event type',
    call: "withSchemas({ 'stt.complete': schemas['stt.completed'] }, {})",
    message: unknownOption("'stt.complete'", 'DataSchemas & {}'),
  },
  {
    title: 'a value that is no schema',
    call: "withSchemas({ 'stt.completed': 'text' }, {})",
    message: "Type 'string' is not assignable to type 'StandardSchemaV1<any, any>'.",
  },
  {
    title: 'a misspelt option of withSchemas',
    call: 'withSchemas(schemas, {}, { ondrift: console.log })',
    message: misspeltOption('ondrift', 'SchemaOptions', 'onDrift'),
  },
  {
    title: 'a sample with data that its schema does not accept',
    call: "sampleEvent('stt.completed', { data: { text: 1 } }, schemas['stt.completed'])",
    message: "Type 'number' is not assignable to type 'string'.",
  },
  {
    title: 'a sample with a field that its schema does not have',
    call: "sampleEvent('stt.completed', { data: { txt: '' } }, schemas['stt.completed'])",
    message: misspeltOption('txt', '{ text: string; }', 'text'),
  },
  {
    title: 'a field that the schema of isEvent does not have',
    call: "if (isEvent(event, 'stt.completed', schemas['stt.completed'])) void event.data.txt",
    message: "Property 'txt' does not exist on type '{ text: string; }'. Did you mean 'text'?",
  },
];

const OF_NEST: Mistake[] = [
  {
    title: 'a misspelt option of forRoot',
    call: 'WebhooksModule.forRoot({ secret, on: {}, deadlineMS: 1_000 })',
    message: misspeltOption('deadlineMS', 'OptionsWithOn', 'deadlineMs'),
  },
  {
    title: 'a misspelt option of forRootAsync',
    call: 'WebhooksModule.forRootAsync({ useFactry: () => ({ secret, on: {} }) })',
    message: misspeltOption('useFactry', 'WebhooksModuleAsyncOptions<[], []>', 'useFactory'),
  },
  {
    title: 'a misspelt option that a useFactory with a return type returns',
    call: 'WebhooksModule.forRootAsync({ useFactory: (): EndpointOptions => ({ secret, on: {}, deadlineMS: 1_000 }) })',
    message: misspeltOption('deadlineMS', 'OptionsWithOn', 'deadlineMs'),
  },
  {
    title: 'a misspelt event type that useFactory returns',
    call: "WebhooksModule.forRootAsync({ useFactory: () => ({ secret, on: { 'stt.complete': () => {} } }) })",
    message: unknownOption("'stt.complete'", 'Handlers'),
  },
];

interface Program {
  from: string;
  mistakes: Mistake[];
}

const withoutRoute = OF_MIDDLEWARE.map((mistake) => ({ ...mistake, call: mistake.call.replace(', route', '') }));
const programs: Program[] = [
  { from: 'service-webhooks', mistakes: [...OF_RECEIVERS, ...OF_EVENTS] },
  ...['express', 'hono', 'nest'].map((name) => ({
    from: `service-webhooks/${name}`,
    mistakes: [...OF_HANDLERS, ...withoutRoute, ...(name === 'nest' ? OF_NEST : [])],
  })),
  ...['aws-lambda', 'fetch'].map((name) => ({
    from: `service-webhooks/${name}`,
    mistakes: [...OF_HANDLERS, ...OF_MIDDLEWARE],
  })),
  { from: 'service-webhooks/standard-schema', mistakes: OF_DATA },
];

/** What the programs of an entry import from it. */
const IMPORTS: Record<string, string> = {
  'service-webhooks': 'createReceiver, isEvent',
  'service-webhooks/standard-schema': 'withSchemas',
};

const DATA = `
  import * as z from 'zod'; import { isEvent } from 'service-webhooks'; import { sampleEvent } from 'service-webhooks/testing';
  const schemas = { 'stt.completed': z.object({ text: z.string() }) };
`.replaceAll('\n', '');

const pathOf = ({ from }: Program) => join(ROOT, '.messages', `${from.replace('/', '-')}.ts`);

/** A program with a mistake in each of its lines, after the declarations of the first. */
function textOf({ from, mistakes }: Program): string {
  const declarations = [
    `import { ${IMPORTS[from] ?? 'webhookHandler, webhookMiddleware'} } from '${from}';`,
    from === 'service-webhooks/standard-schema' ? DATA : '',
    from === 'service-webhooks/nest' ? `import { WebhooksModule } from '${from}';` : '',
    "import type { EndpointOptions } from 'service-webhooks';",
    "declare const secret: string; declare const queue: import('service-webhooks').DeliveryQueue;",
    "declare const route: () => never; declare const event: import('service-webhooks').WebhookEvent;",
    "declare const onClip: import('service-webhooks').HandlerOf<'generation.completed'>;",
  ];
  return [declarations.join(' '), ...mistakes.map(({ call }) => `${call};`)].join('\n');
}

const options = { ...strictOptions(), noUnusedLocals: false };
const problems = compile(new Map(programs.map((program) => [pathOf(program), textOf(program)])), options);

describe.each(programs)('a mistake with $from', (program) => {
  it.each(program.mistakes.map((mistake, index) => ({ ...mistake, line: index + 2 })))(
    'the compiler explains $title',
    ({ line, message }) => {
      const at = `${pathOf(program)}:${line} `;
      const found = problems.filter((problem) => problem.startsWith(at)).map((problem) => problem.slice(at.length));
      const lines = message.split('\n').length;
      expect(found.map((problem) => problem.split('\n').slice(0, lines).join('\n'))).toEqual([message]);
    },
  );

  it('the rest of the program compiles', () => {
    expect(problems.filter((problem) => problem.startsWith(`${pathOf(program)}:1 `))).toEqual([]);
  });
});
