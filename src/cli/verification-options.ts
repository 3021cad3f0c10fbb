import { Option } from '@commander-js/extra-typings';
import { wholeNumber } from './option-values.js';

export function legacyOption() {
  return new Option('--legacy <policy>', 'what to do with only a legacy header').choices(['reject', 'accept']);
}

export function toleranceOption() {
  return new Option('--tolerance <seconds>', 'largest difference between the signed time and the clock').argParser(
    wholeNumber(1, 1_000_000_000),
  );
}
