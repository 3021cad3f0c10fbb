const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait before each retry in milliseconds, counted from the failure before it. */
export const RETRY_WAITS_MS = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, 1 * HOUR, 4 * HOUR] as const;

/** How long a receiver may take to answer before the attempt fails, in milliseconds. */
export const ANSWER_TIMEOUT_MS = 20 * SECOND;

/** The number of consecutive dead deliveries that pause an endpoint. */
export const PAUSE_AFTER_DEAD = 20;
