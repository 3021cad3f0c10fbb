import assert from 'node:assert/strict';

/**
 * What a call returned, or the code of the WebhookError that it threw: well formed, and without anything that could
 * hold a piece of the input. Whatever else is thrown goes on to whoever runs this.
 */
export function verdictOf(call) {
  try {
    return { code: call() };
  } catch (error) {
    if (error?.name !== 'WebhookError') throw error;
    const { code, status, message, hint, cause } = error;
    assert.ok(status >= 400 && status < 402 && hint.length < 80 && cause === undefined, 'a refusal');
    assert.match(message, new RegExp(`^${code}(: [\\w ]{1,20})?$`));
    return { code, message };
  }
}
