export type { CauseName, Certainty } from './causes.js';
export { type Cause, type ExplainInput, type Explanation, explain } from './explain.js';
