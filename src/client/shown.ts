/** The account limits record (specification, section 2.2): the numbers that apply, overrides included. */
export interface AccountLimits {
  plan: {
    /** The plan's identifier. */
    type: string;
    /** Its display name. */
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

/** What is known of the voice changer (section 4.7). */
export interface SpeechToSpeech {
  /** The longest audio that it converts. */
  max_source_seconds: number;
  [field: string]: unknown;
}

/** A webhook endpoint (section 2.3), without its secret. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  events: string[];
  [field: string]: unknown;
}

/** The fields that have to be there, with their types. */
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

/** The first field that is not as it should be, such as `plan.type`; undefined where all are. */
export function faultyField(value: unknown, shape: Shape): string | undefined {
  // Of JSON, where what is no object has none of these.
  const fields = value as Readonly<Record<string, unknown>> | null | undefined;
  for (const [name, type] of Object.entries(shape)) {
    const field = fields?.[name];
    if (typeof type === 'object') {
      const inner = faultyField(field, type);
      if (inner !== undefined) return `${name}.${inner}`;
    } else if (!(type === 'strings' ? isStrings(field) : typeof field === type)) return name;
  }
  return undefined;
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
