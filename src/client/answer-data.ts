/** The account limits record. The numbers include overrides for the account. */
export interface AccountLimits {
  plan: {
    /** The plan's identifier. */
    type: string;
    /** The plan's display name. */
    name: string;
    api_access: boolean;
  };
  credits: { remaining: number; monthly_allocation: number };
  limits: {
    rate_limit_per_minute: number;
    daily_request_limit: number;
    daily_requests_used: number;
    daily_requests_remaining: number;
    max_keys_per_account: number;
  };
  [field: string]: unknown;
}

/** The documented fields of the voice changer's answer. */
export interface SpeechToSpeech {
  /** The longest audio that the voice changer converts, in seconds. */
  max_source_seconds: number;
  [field: string]: unknown;
}

/** A webhook endpoint, without its signing secret. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  events: string[];
  [field: string]: unknown;
}

/** The fields that an object must have, with their types. */
export interface Shape {
  readonly [field: string]: 'string' | 'number' | 'boolean' | 'strings' | Shape;
}

export const ACCOUNT_LIMITS: Shape = {
  plan: { type: 'string', name: 'string', api_access: 'boolean' },
  credits: { remaining: 'number', monthly_allocation: 'number' },
  limits: {
    rate_limit_per_minute: 'number',
    daily_request_limit: 'number',
    daily_requests_used: 'number',
    daily_requests_remaining: 'number',
    max_keys_per_account: 'number',
  },
};

export const SPEECH_TO_SPEECH: Shape = { max_source_seconds: 'number' };

export const WEBHOOK_ENDPOINT: Shape = { id: 'string', url: 'string', events: 'strings' };

/** Returns the path of the first field that is missing or has another type, such as `plan.type`. */
export function wrongField(value: unknown, shape: Shape): string | undefined {
  const fields = isObject(value) ? value : {};
  for (const [name, type] of Object.entries(shape)) {
    const field = fields[name];
    if (typeof type === 'object') {
      const inner = wrongField(field, type);
      if (inner !== undefined) return `${name}.${inner}`;
    } else if (!(type === 'strings' ? isStrings(field) : typeof field === type)) return name;
  }
  return undefined;
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns every object and array in a JSON value, outer ones first, whatever its layout and however deep it is. */
export function objectsIn(data: unknown): object[] {
  const found: object[] = [];
  const add = (value: unknown) => {
    if (typeof value === 'object' && value !== null) found.push(value);
  };
  add(data);
  for (const object of found) {
    for (const value of Array.isArray(object) ? object : Object.values(object)) add(value);
  }
  return found;
}

/**
 * A signing secret that cannot be logged by accident: as a string, as JSON and on the console it is a placeholder. The
 * service shows the secret only once, so store the result of `reveal()`.
 */
export interface SigningSecret {
  /** Returns the secret. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

const PLACEHOLDER = '[signing secret, shown this once: .reveal()]';

function hideSecret(secret: string): SigningSecret {
  const placeholder = () => PLACEHOLDER;
  return Object.freeze({
    reveal: () => secret,
    toString: placeholder,
    toJSON: placeholder,
    [Symbol.for('nodejs.util.inspect.custom')]: placeholder,
  });
}

/**
 * Returns whether a value is a hidden secret. Nothing else in an answer matches, because parsed JSON has no functions.
 */
export function isSigningSecret(value: unknown): value is SigningSecret {
  return isObject(value) && typeof value['reveal'] === 'function';
}

/**
 * Returns the parsed JSON, or undefined where the text is not JSON. Every `signing_secret` in it is hidden. An empty
 * text has the value undefined.
 */
export function parseJson(text: string): { value: unknown } | undefined {
  if (text === '') return { value: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // not the SyntaxError, which quotes the text
  }
  for (const object of objectsIn(value)) {
    if (!isObject(object)) continue;
    const { signing_secret: secret } = object;
    if (typeof secret === 'string') object['signing_secret'] = hideSecret(secret);
  }
  return { value };
}
