/** A mistake that ends the program before it listens, and what its author must see. */
export interface RefusedMistake {
  name: string;
  code: string;
  /** What the terminal has to contain. */
  says: readonly string[];
}

const handler = (options: string) => `
  import { webhookHandler } from 'service-webhooks/express';
  const secret = process.env.WEBHOOK_SECRET;
  webhookHandler({ ${options} });`;

const withSecret = (secret: string) => handler(`secret: ${secret}, on: { '*'() {} }`);

const verify = (call: string) => `
  import { sign, verify } from 'service-webhooks';
  const secret = process.env.WEBHOOK_SECRET;
  const rawBody = Buffer.from('{}');
  const headers = sign({ body: rawBody, secret });
  ${call};`;

const SET_THE_VARIABLE = 'Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set';

export const refusedMistakes: readonly RefusedMistake[] = [
  {
    name: 'a secret that is undefined',
    code: withSecret('process.env.NO_SUCH_VARIABLE'),
    says: ['secret is undefined.', SET_THE_VARIABLE, '(invalid_secret)'],
  },
  {
    name: 'a route of Next whose secret is undefined',
    code: withSecret('process.env.NO_SUCH_VARIABLE').replace('/express', '/next'),
    says: ['secret is undefined.', SET_THE_VARIABLE, '(invalid_secret)'],
  },
  {
    name: 'a secret that ends with a line feed',
    code: withSecret("secret + '\\n'"),
    says: ['secret ends with a line feed.', 'Trim it.', '(invalid_secret)'],
  },
  {
    name: "the secret 'undefined'",
    code: withSecret('String(undefined)'),
    says: ["secret is the text 'undefined'.", SET_THE_VARIABLE],
  },
  { name: "the secret 'null'", code: withSecret('String(null)'), says: ["secret is the text 'null'."] },
  { name: 'a secret of two quotes', code: withSecret(`'""'`), says: ['secret is in quotes.', 'Remove the quotes.'] },
  { name: 'a secret in quotes', code: withSecret("'\"' + secret + '\"'"), says: ['secret is in quotes.'] },
  { name: 'a line feed in bytes as a secret', code: withSecret("Buffer.from('\\n')"), says: ['secret is blank.'] },
  { name: 'blank bytes as a secret', code: withSecret("Buffer.from('   ')"), says: ['secret is blank.'] },
  { name: 'zero bytes as a secret', code: withSecret('new Uint8Array(32)'), says: ['secret has only zero bytes.'] },
  {
    name: 'padded bytes as a secret',
    code: withSecret("Buffer.from(secret + ' ')"),
    says: ['secret ends with a space.', 'Trim it.'],
  },
  {
    name: 'a typo in an event name',
    code: handler("secret, on: { 'generation.complete'() {} }"),
    says: [
      "on['generation.complete'] is not an event type.",
      "Did you mean 'generation.completed'?",
      '(invalid_option)',
    ],
  },
  {
    name: 'handlers in place of on',
    code: handler("secret, handlers: { '*'() {} }"),
    says: ["Unknown option 'handlers'", "Did you mean 'on'?", '(invalid_option)'],
  },
  {
    name: 'an option that is spelled wrong',
    code: handler('secret, on: {}, ...{ toleranceSecond: 60 }'),
    says: ["Unknown option 'toleranceSecond'", "Did you mean 'toleranceSeconds'?"],
  },
  {
    name: 'no handlers',
    code: handler('secret'),
    says: ['every event would be acknowledged and lost', "Pass on: { 'generation.completed': handler }", 'on: {} if'],
  },
  {
    name: 'verify called with three arguments',
    code: verify("verify(rawBody, headers['x-service-signature-v2'], secret)"),
    says: ['verify takes one object.', 'Call verify({ headers, body, secret }).', '(invalid_option)'],
  },
  {
    name: 'verify with a body that is undefined',
    code: verify('verify({ headers, body: undefined, secret })'),
    says: ['body is undefined.', 'Pass the raw body', '(body_already_parsed)'],
  },
  {
    name: 'verify with a parsed body',
    code: verify('verify({ headers, body: JSON.parse(rawBody), secret })'),
    says: ['A body parser ran first', 'cannot be verified', "express.raw({ type: '*/*' })", '(body_already_parsed)'],
  },
];
