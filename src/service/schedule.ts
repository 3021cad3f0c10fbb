const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each retry in milliseconds, counted from the failure before it. */
export const RETRY_WAITS_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 1 * HOUR, 4 * HOUR] as const;

/** How long a receiver may take to answer before the attempt fails, in milliseconds. */
export const ANSWER_TIMEOUT_MS = 20 * SECOND;

/** The number of attempts of a delivery: the first one and its retries. */
export const MAX_ATTEMPTS = RETRY_WAITS_MS.length + 1;

/**
 * The longest time from the first attempt of a delivery to the end of its last one, in milliseconds: every wait, and every
 * answer at its time limit. It is 5 h 14 min 30 s.
 */
export const RETRY_HORIZON_MS = RETRY_WAITS_MS.reduce((sum, wait) => sum + wait, MAX_ATTEMPTS * ANSWER_TIMEOUT_MS);

/** The number of consecutive dead deliveries that pause an endpoint. */
export const PAUSE_AFTER_DEAD = 20;
