/** What is fuzzed and what it is held against, as one module, so that one instrumentation sees both. */

export { isWebhookError, isWebhookEvent, parseEvent, verifySignature } from '../../../src/index.js';
export { referenceEnvelope } from '../../../test/properties/reference-envelope.js';
export { referenceVerdict } from '../../../test/properties/reference-verifier.js';
