// Next calls this once when a server starts, and not when it builds. An error thrown here would only be logged.
export function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs' && !process.env.WEBHOOK_SECRET) {
    console.error('WEBHOOK_SECRET is not set in this environment.');
    process.exit(1);
  }
}
