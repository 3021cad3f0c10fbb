import { H3 } from 'h3';
import { webhookHandler } from 'service-webhooks/h3';

export const app = new H3().post('/webhooks', webhookHandler({ secret: 'whsec_1', on: {} }));
