/**
 * Here goes your work. A queue runs it again when a worker dies in the middle, so make it idempotent.
 *
 * @param {import('service-webhooks').WebhookEvent} event
 */
export async function work(event) {
  console.log(`done ${event.id}`);
}
