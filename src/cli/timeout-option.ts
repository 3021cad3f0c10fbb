import { Option } from '@commander-js/extra-typings';
import { ANSWER_TIMEOUT_MS } from '../service/schedule.js';
import { duration } from './option-values.js';

/** Returns the option for the time limit. Its default is the time that the service waits. */
export function timeoutOption() {
  return new Option('--timeout <time>', 'how long to wait for an answer')
    .argParser(duration)
    .default(ANSWER_TIMEOUT_MS, '20s');
}
