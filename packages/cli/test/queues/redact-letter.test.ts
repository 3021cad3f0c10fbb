import { describe, expect, it } from 'vitest';
import { redactLetter } from '../../src/queues/redact-letter.js';

const aLetter = (body: unknown, reason?: string, stack?: string) => ({
  ...{ body: body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) },
  ...{ reason, stack, notShown: undefined },
});

describe('a letter with redacted fields', () => {
  it('the fields are replaced in the body, and their values in the reason and the stack', () => {
    const body = { id: 'evt_a', data: { email: 'bob@example.com', text: 'hello' } };
    const letter = aLetter(body, 'no user bob@example.com', 'Error: no user bob@example.com\n    at handle');
    const redacted = redactLetter(letter, ['data.email']);
    expect(JSON.parse(String(redacted.body))).toEqual({ id: 'evt_a', data: { email: 'redacted', text: 'hello' } });
    expect(redacted).toMatchObject({ reason: 'no user redacted', stack: 'Error: no user redacted\n    at handle' });
  });

  it('values inside of an object or a list that is redacted count too, and the names of fields do not', () => {
    const body = { data: { users: [{ email: 'bob@example.com', zip: 12345 }, ['eve@example.com']] } };
    const letter = aLetter(body, 'email of bob@example.com, eve@example.com at 12345');
    expect(redactLetter(letter, ['data.users']).reason).toBe('email of redacted, redacted at redacted');
  });

  it.each([
    [undefined, undefined],
    ['{ "email": ', 'The body is not shown: it is not JSON, in which fields could be redacted.'],
  ])('without a body to find the values in, there is no reason and no stack: %s', (body, notShown) => {
    const redacted = redactLetter(aLetter(body, 'no user bob@example.com', 'bob@example.com'), ['data.email']);
    expect(redacted).toMatchObject({ body: undefined, stack: undefined, notShown });
    expect(redacted.reason).toMatch(/^The reason is not shown/);
  });

  it('a letter without a reason has none', () => {
    expect(redactLetter(aLetter({ data: {} }), ['data.email'])).toMatchObject({ reason: undefined, stack: undefined });
    expect(redactLetter(aLetter(undefined), ['data.email']).reason).toBeUndefined();
  });
});
