/**
 * A signing secret that cannot be logged by mistake: as a string, as JSON and on the console it is a line that says so.
 * The service shows it this once (specification, section 2.3): keep what `reveal` gives where the receiver reads it.
 */
export interface SigningSecret {
  /** The secret itself. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

const HIDDEN = '[signing secret, shown this once: .reveal()]';

export function hideSecret(secret: string): SigningSecret {
  const hidden = () => HIDDEN;
  const own = { reveal: () => secret, toString: hidden, toJSON: hidden };
  return Object.freeze(Object.defineProperty(own, Symbol.for('nodejs.util.inspect.custom'), { value: hidden }));
}

/** For what came as JSON, in which nothing else has a function. */
export function isSigningSecret(value: object): value is SigningSecret {
  return typeof (value as SigningSecret).reveal === 'function';
}
