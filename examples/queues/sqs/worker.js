import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createProcessor } from 'service-webhooks/queue';

const { DEAD_URL } = process.env;
const sqs = new SQSClient();
const run = createProcessor({
  on: { 'stt.completed': async (event) => console.log(event.id) },
});

/** @type {import('aws-lambda').SQSHandler} */
export const handler = async ({ Records }) => {
  const failures = Records.map(async (record) => {
    const settling = settle(record).catch((error) => console.error(error));
    return (await settling) ? [] : [{ itemIdentifier: record.messageId }];
  });
  return { batchItemFailures: (await Promise.all(failures)).flat() };
};

/** @param {import('aws-lambda').SQSRecord} record */
async function settle({ body, attributes }) {
  const job = parsed(body);
  const attempt = Number(attributes.ApproximateReceiveCount);
  const ended = await run(job, { attempt });
  if (ended.as !== 'dead') return ended.as === 'done';
  // The handler threw a PermanentError: another attempt is of no use.
  const message = { QueueUrl: DEAD_URL, MessageBody: body };
  await sqs.send(new SendMessageCommand(message));
  run.deadLetter(job, ended);
  return true;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
