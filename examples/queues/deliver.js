// Sends an event as the service does, and prints the answer: node deliver.js [event id]
import { randomUUID } from 'node:crypto';
import { PAYLOAD_VERSION, sign } from 'service-webhooks';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;
const [, , id = `evt_${randomUUID()}`] = process.argv;
const timestamp = new Date().toISOString();
const event = { id, type: 'stt.completed', version: PAYLOAD_VERSION, jobId: 'clip_1', data: {}, timestamp };
const body = JSON.stringify(event);
const headers = { 'content-type': 'application/json', ...sign({ body, secret }) };
const response = await fetch(`http://127.0.0.1:${PORT}/webhooks`, { method: 'POST', headers, body });
console.log(response.status, id);
