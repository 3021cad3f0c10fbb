import { PROBES } from '../doctor/probes.js';

declare const OWN: unique symbol;

/** Text of this program: no event, app, endpoint or caller has chosen any of it. */
export type OwnText = string & { readonly [OWN]: true };

/** Returns text that is written in the source. A value that may be any string does not compile. */
export function own<const Text extends string>(text: string extends Text ? never : Text): OwnText {
  return String(text) as OwnText;
}

/** Returns an id that the emulator has generated for an endpoint or a delivery. */
export function ownId(id: string): OwnText {
  return matching(/^(wh|dlv)_[0-9a-f]{24}$/, id);
}

/** Returns the address of the page of `dev`. */
export function ownAddress(url: string): OwnText {
  return matching(/^http:\/\/127\.0\.0\.1:\d+$/, url);
}

/** Returns a time, given in milliseconds since the epoch. */
export function ownTime(ms: number): OwnText {
  return new Date(ms).toISOString() as OwnText;
}

const PROBE_TEXTS = new Map(PROBES.map(({ name, says, fix }) => [name, { name, says, fix }]));

/** Returns the texts of a probe of `doctor`, by its name. */
export function ownProbe(name: string): { [Text in 'name' | 'says' | 'fix']: OwnText } {
  const texts = PROBE_TEXTS.get(name);
  if (texts === undefined) throw new Error('there is no probe of that name');
  return texts as { [Text in keyof typeof texts]: OwnText };
}

function matching(form: RegExp, text: string): OwnText {
  if (!form.test(text)) throw new Error(`a text has not the form ${form}`);
  return text as OwnText;
}
