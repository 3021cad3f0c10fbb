import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Session } from './session.js';

/** One command. Its module is loaded when it is needed, so that the program starts quickly. */
interface CommandEntry {
  name: string;
  summary: string;
  /** `args` is the whole command line. */
  load(): Promise<(session: Session, args: readonly string[]) => CommandUnknownOpts>;
  /** Whether the help omits it. */
  hidden?: true;
}

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'add a receiver, its test and a secret in .env to your app',
    load: async () => (await import('./commands/init/command.js')).initCommand,
  },
  {
    name: 'listen',
    summary: 'receive deliveries, and forward them to your app',
    load: async () => (await import('./commands/listen/command.js')).listenCommand,
  },
  {
    name: 'dev',
    summary: 'the service on your machine: deliveries, retries, its API, a page',
    load: async () => (await import('./commands/dev/command.js')).devCommand,
  },
  {
    name: 'mcp',
    summary: 'dev for coding agents: an MCP server over stdio',
    load: async () => (await import('./commands/mcp/command.js')).mcpCommand,
  },
  {
    name: 'send',
    summary: 'a signed event to a receiver',
    load: async () => (await import('./commands/send/command.js')).sendCommand,
  },
  {
    name: 'replay',
    summary: 'a captured delivery again',
    load: async () => (await import('./commands/replay/command.js')).replayCommand,
  },
  {
    name: 'captures',
    summary: 'the deliveries that listen has captured: list, export',
    load: async () => (await import('./commands/captures/command.js')).capturesCommand,
  },
  {
    name: 'queue',
    summary: 'the dead letters of a queue: list, show, retry, replay, discard',
    load: async () => (await import('./commands/queue/command.js')).queueCommand,
  },
  {
    name: 'types',
    summary: 'the types of data, learned from deliveries: TypeScript, zod, valibot',
    load: async () => (await import('./commands/types/command.js')).typesCommand,
  },
  {
    name: 'doctor',
    summary: 'test your endpoint with valid and hostile deliveries',
    load: async () => (await import('./commands/doctor/command.js')).doctorCommand,
  },
  {
    name: 'sign',
    summary: 'the signature headers of a body',
    load: async () => (await import('./commands/sign/command.js')).signCommand,
  },
  {
    name: 'verify',
    summary: 'whether a delivery is genuine',
    load: async () => (await import('./commands/verify/command.js')).verifyCommand,
  },
  {
    name: 'explain',
    summary: 'why a delivery does not verify',
    load: async () => (await import('./commands/explain/command.js')).explainCommand,
  },
  {
    name: 'endpoints',
    summary: 'the webhook endpoints of your account: list, ensure, update, test, rotate, delete',
    load: async () => (await import('./commands/endpoints/command.js')).endpointsCommand,
  },
  {
    name: 'limits',
    summary: 'whether your API key works, what is left, and what was used',
    load: async () => (await import('./commands/limits/command.js')).limitsCommand,
  },
  {
    name: 'migrations',
    summary: 'the tables of stores and inboxes: print their SQL, check their version',
    load: async () => (await import('./commands/migrations/command.js')).migrationsCommand,
  },
  {
    name: 'completion',
    summary: 'completion for your shell',
    load: async () => (await import('./commands/completion/command.js')).completionCommand,
  },
  {
    name: 'complete',
    summary: 'what may come next',
    load: async () => (await import('./commands/complete/command.js')).completeCommand,
    hidden: true,
  },
];
