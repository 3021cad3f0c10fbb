import type { Command, OptionValues } from '@commander-js/extra-typings';
import { headerPrefixOption, timeoutOption, wholeNumber } from './options.js';
import { redactOption } from './redact.js';
import { secretOption } from './secrets.js';

/** Adds the options of `sendAgain`, which is loaded when it is needed. */
export function withSendOptions<Args extends unknown[], Given extends OptionValues>(command: Command<Args, Given>) {
  return command
    .option('--insecure', 'accept any certificate, as a self-signed one')
    .addOption(secretOption())
    .option('--attempt <number>', 'which attempt of the delivery it is; as it came', wholeNumber(1, 1_000_000))
    .addOption(redactOption())
    .addOption(timeoutOption())
    .addOption(headerPrefixOption());
}
