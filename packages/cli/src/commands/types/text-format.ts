import type { TextFormat } from './shape.js';

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const MAX_LENGTH = 8_192;

/** Returns the format of a text, if zod and valibot both accept the text in it. */
export function textFormat(text: string): TextFormat | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (DATE.test(text)) return isDay(text) ? 'date' : undefined;
  const day = DATE_TIME.exec(text)?.[1];
  if (day !== undefined) return isDay(day) ? 'date-time' : undefined;
  return /^https?:\/\/[!-~]+$/.test(text) && URL.canParse(text) ? 'uri' : undefined;
}

/** Whether the calendar has the day: `Date` would turn 30 February into a day of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
