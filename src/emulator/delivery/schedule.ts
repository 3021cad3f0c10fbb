const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each retry, counted from the failure before it (specification, section 6.3). */
export const RETRY_WAITS_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 1 * HOUR, 4 * HOUR] as const;

/** A receiver answers within this, or the attempt has failed (specification, section 8.5). */
export const ANSWER_TIMEOUT_MS = 20 * SECOND;

/** As many dead deliveries in a row pause an endpoint (specification, section 8.5). */
export const PAUSE_AFTER_DEAD = 20;
