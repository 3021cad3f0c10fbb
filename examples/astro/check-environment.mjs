import { createReceiver } from 'service-webhooks';

createReceiver({ secret: process.env['WEBHOOK_SECRET'] ?? '', dedupe: false }); // throws where the secret cannot be used
