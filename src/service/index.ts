export { isAcknowledged } from './acknowledged.js';
export { API_ERRORS, type ApiErrorCode, type ApiErrorRow, type ApiErrorType, type Retry } from './api-errors.js';
export { PLANS, type Plan, type PlanType } from './plans.js';
export { ANSWER_TIMEOUT_MS, MAX_ATTEMPTS, PAUSE_AFTER_DEAD, RETRY_HORIZON_MS, RETRY_WAITS_MS } from './schedule.js';
