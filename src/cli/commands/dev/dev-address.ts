/** Where `dev` is, if nothing is said. */
export const DEV_PORT = 4848;
/** Good on this machine alone, so that it may be known. */
export const DEV_KEY = 'acct_development';
/** Where a running `dev` takes events. No path of the service's API. */
export const EVENTS_PATH = '/dev/events';
