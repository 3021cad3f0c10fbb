export { OUTCOME_CHANNEL, publishOutcome } from './publish-outcome.js';
