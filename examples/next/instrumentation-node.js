import { createReceiver } from 'service-webhooks';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
try {
  // Throws where the secret cannot be used.
  createReceiver({ secret, dedupe: false });
} catch (error) {
  console.error(error);
  // Next only logs an error that is thrown here, and goes on.
  process.exit(1);
}
