import { createReceiver } from 'service-webhooks';

const secret = process.env['WEBHOOK_SECRET'] ?? '';
// Throws where the secret cannot be used.
createReceiver({ secret, dedupe: false });
