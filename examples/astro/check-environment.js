// Loaded by `npm start` before the server, and not by the build: a missing secret is known before the first delivery.
if (!process.env.WEBHOOK_SECRET) {
  console.error('WEBHOOK_SECRET is not set in this environment.');
  process.exit(1);
}
