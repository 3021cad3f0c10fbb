import { createReceiver } from 'service-webhooks';

try {
  createReceiver({ secret: process.env['WEBHOOK_SECRET'] ?? '', dedupe: false }); // throws where the secret cannot be used
} catch (error) {
  console.error(error);
  process.exit(1); // Next only logs an error that is thrown here, and goes on
}
