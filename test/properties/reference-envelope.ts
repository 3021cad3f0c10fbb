/**
 * The rules of the envelope once more, in the plainest words and with nothing of the library (specification, section
 * 6.1).
 *
 * @returns `'accepted'`, or the message of the refusal, with the first field that is at fault
 */
export function referenceEnvelope(body: Uint8Array): string {
  const text = Buffer.from(body).toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(body)) return 'invalid_encoding';
  let event: Record<string, unknown>;
  try {
    event = JSON.parse(text);
  } catch {
    return 'invalid_json';
  }
  const isPlain = (value: unknown) => Object.prototype.toString.call(value) === '[object Object]';
  if (!isPlain(event)) return 'invalid_envelope: no object';
  const { id, type, version, jobId, data, timestamp } = event;
  const fields: [name: string, holds: boolean][] = [
    ['id', typeof id === 'string' && id.slice(0, 4) === 'evt_' && id.length > 4],
    ['type', typeof type === 'string' && type.length > 0],
    ['version', typeof version === 'string' && isDay(version)],
    ['jobId', jobId === null || typeof jobId === 'string'],
    ['data', isPlain(data)],
    ['timestamp', typeof timestamp === 'string' && isInstant(timestamp)],
  ];
  const [faulty] = fields.find(([, holds]) => !holds) ?? [];
  return faulty === undefined ? 'accepted' : `invalid_envelope: ${faulty}`;
}

const number = (text: string, digits: number) =>
  new RegExp(`^[0-9]{${digits}}$`).test(text) ? Number(text) : Number.NaN;
const isFrom = (low: number, high: number, value: number) => value >= low && value <= high;

function isDay(text: string): boolean {
  const [year = '', month = '', day = '', ...more] = text.split('-');
  const [y, m, d] = [number(year, 4), number(month, 2), number(day, 2)];
  const isLeap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return more.length === 0 && y >= 0 && isFrom(1, lengths[m - 1] ?? 0, d);
}

/** A day, or a day, `T`, hours and minutes, with or without seconds, their fraction, and a zone. */
function isInstant(text: string): boolean {
  const [day = '', time, ...more] = text.split('T');
  if (more.length > 0 || !isDay(day)) return false;
  if (time === undefined) return true;
  const zoneAt = time.search(/[Z+-]/);
  const zone = zoneAt === -1 ? undefined : time.slice(zoneAt);
  const [hours = '', minutes = '', seconds, ...rest] = (zoneAt === -1 ? time : time.slice(0, zoneAt)).split(':');
  return rest.length === 0 && isClock(hours, minutes) && isSeconds(seconds) && isZone(zone);
}

function isClock(hours: string, minutes: string): boolean {
  return isFrom(0, 23, number(hours, 2)) && isFrom(0, 59, number(minutes, 2));
}

function isSeconds(seconds: string | undefined): boolean {
  if (seconds === undefined) return true;
  const [whole = '', fraction = '0', ...more] = seconds.split('.');
  return more.length === 0 && isFrom(0, 59, number(whole, 2)) && fraction !== '' && !/[^0-9]/.test(fraction);
}

function isZone(zone: string | undefined): boolean {
  if (zone === undefined || zone === 'Z') return true;
  const [hours = '', minutes = '', ...more] = zone.slice(1).split(':');
  return zone[0] !== 'Z' && more.length === 0 && isClock(hours, minutes);
}
