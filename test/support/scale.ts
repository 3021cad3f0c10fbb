/** Set by the project `faults`. The ordinary tests hold the same with less of everything. */
export const isFull = process.env['FAULTS'] === 'full';

/** Where random choices begin. FAULTS_SEED makes the same ones again. */
export const SEED = Number(process.env['FAULTS_SEED'] ?? (isFull ? Date.now() % 2 ** 32 : 1));

/** In each history that is checked. */
export const OPERATIONS = Number(process.env['FAULTS_OPERATIONS'] ?? (isFull ? 100_000 : 2_000));

/** Through each queue whose receivers and workers are killed. */
export const EVENTS = Number(process.env['FAULTS_EVENTS'] ?? (isFull ? 2_500 : 200));

/** Keys for each race of the suite of stores, and attempts at one event. */
export const [RACES, ATTEMPTS] = isFull ? [200, 10_000] : [20, 1_000];
