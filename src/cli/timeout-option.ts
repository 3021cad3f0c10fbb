import { Option } from '@commander-js/extra-typings';
import { ANSWER_TIMEOUT_MS } from './deliver.js';
import { duration } from './option-values.js';

/** As long as the service waits, if nothing is said. */
export function timeoutOption() {
  return new Option('--timeout <time>', 'how long to wait for an answer')
    .argParser(duration)
    .default(ANSWER_TIMEOUT_MS, '20s');
}
