/** The fields in which drivers have the code of an error. */
export interface DriverError {
  errno?: unknown;
  code?: unknown;
  originalCode?: unknown;
}

const MAX_DEPTH = 5; // an error may be its own cause

/** Returns whether the error of a driver matches. Each ORM wraps it in its own way. */
export function isDriverError(error: unknown, matches: (error: DriverError) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false;
  if (matches(error)) return true;
  const { cause, original, meta, driverAdapterError } = error as Record<string, unknown>;
  return [cause, original, meta, driverAdapterError].some((inner) => isDriverError(inner, matches, depth + 1));
}
