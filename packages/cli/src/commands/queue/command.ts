import { Command } from '@commander-js/extra-typings';
import type { Session } from '../../session.js';
import { discardCommand, retryCommand } from './change-commands.js';
import { listCommand } from './list-command.js';
import { replayCommand } from './replay-command.js';
import { showCommand } from './show-command.js';
import { statsCommand } from './stats-command.js';
import { uiCommand } from './ui-command.js';
import { useCommand } from './use-command.js';

export function queueCommand(session: Session, args: readonly string[] = []) {
  return new Command('queue')
    .description(
      'The dead letters of a queue: list and show them, run them again, send them to an app, or discard them.',
    )
    .addCommand(listCommand(session))
    .addCommand(showCommand(session))
    .addCommand(retryCommand(session))
    .addCommand(replayCommand(session))
    .addCommand(discardCommand(session))
    .addCommand(statsCommand(session))
    .addCommand(useCommand(session))
    .addCommand(uiCommand(session), { isDefault: args.some((arg) => /^--ui(=|$)/.test(arg)) })
    .addHelpText(
      'after',
      `
Examples:
  service-webhooks queue use --sqlite webhooks.db
  service-webhooks queue --ui
  service-webhooks queue list
  service-webhooks queue show 17
  service-webhooks queue retry --reason ECONNREFUSED --wait
  service-webhooks queue retry --type stt.completed --since 90m --over 10m --bullmq --queue webhooks
  service-webhooks queue replay 17 3000 --sqlite webhooks.db
  service-webhooks queue discard --event evt_1 --dry-run --pg-boss --queue webhooks

The command uses the client library that your project has installed. A URL with a password is read from the environment:
REDIS_URL, DATABASE_URL, RABBITMQ_URL, NATS_URL, also in .env.`,
    );
}
