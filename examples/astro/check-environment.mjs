import { createReceiver } from 'service-webhooks';

createReceiver({ secret: process.env['WEBHOOK_SECRET'] ?? '' }); // throws where the secret is missing, blank or in quotes
