import { createReceiver } from 'service-webhooks';

try {
  createReceiver({ secret: process.env['WEBHOOK_SECRET'] ?? '' }); // throws where the secret is missing, blank or in quotes
} catch (error) {
  console.error(error);
  process.exit(1); // Next only logs an error that is thrown here, and goes on
}
