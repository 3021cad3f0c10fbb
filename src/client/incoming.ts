import type { RateState } from './rate.js';

/** What came back, whatever it is. */
export interface Incoming {
  status: number;
  headers: Headers;
  text: string;
  /** Length of the body, in bytes. */
  bytes: number;
  rate: RateState | undefined;
}

const MAX_EXCERPT = 100;

/** In words, for an error: status, media type, size, and how it begins, if that may be shown. */
export function describe({ status, headers, text, bytes }: Incoming, redact: (text: string) => string): string {
  const [mediaType] = (headers.get('content-type') ?? 'no content type').split(';');
  if (text === '') return `${status} with an empty body`;
  const [, title] = /<title[^>]*>([^<]*)/i.exec(text) ?? [];
  // What begins a success may be a signing secret.
  const shown = title ?? (status >= 400 ? text : undefined);
  const excerpt = shown === undefined ? '' : `: ${JSON.stringify(redact(shown).trim().slice(0, MAX_EXCERPT))}`;
  return `${status} ${mediaType}, ${bytes} bytes${excerpt}`;
}
