/** The headers of every answer that carry the rate limits and the credit balance. */
export const RATE_HEADERS = {
  limit: 'x-ratelimit-limit',
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  dailyLimit: 'x-daily-requests-limit',
  dailyUsed: 'x-daily-requests-used',
  creditsRemaining: 'x-credits-remaining',
  plan: 'x-plan',
} as const;
