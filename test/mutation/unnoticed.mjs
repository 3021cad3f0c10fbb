// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines of the source as they stand there
/**
 * Changes that no test can notice, since the program does the same with them; `at` is the line as it stands in the
 * source. Whatever else survives is a test that is missing.
 */
export const UNNOTICED = [
  {
    at: 'for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);',
    was: 'i < a.length',
    why: 'one past the end of both gives NaN twice, and no difference',
  },
  {
    at: "age < 0 ? 'timestamp_in_future' : 'timestamp_too_old',",
    was: 'age < 0',
    why: 'an age of 0 is never refused',
  },
  {
    at: "const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });",
    was: "'utf-8'",
    why: 'no test file can be loaded with it, and Stryker counts only tests that ran',
  },
  {
    at: "if (version !== PAYLOAD_VERSION && (!isDate(version) || version.length !== 10)) return 'version';",
    was: 'version !== PAYLOAD_VERSION',
    why: 'a short way past a check that the version passes',
  },
  {
    at: "return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === Number(day);",
    was: "day <= '28'",
    why: 'a short way past a check that such a day passes',
  },
  {
    at: "return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === Number(day);",
    was: "'28'",
    why: 'the same',
  },
  {
    at: 'return /^"?([!#-~]{1,255})"?$/.exec(unsigned.idempotencyKey ?? \'\')?.[1];',
    was: "''",
    why: 'what stands there instead has spaces in it, and is refused as the empty text is',
  },
  {
    at: 'const values: { [N in Name]: number } = { ...defaults };',
    was: '{ ...defaults }',
    why: 'each of them is set below; this is for the compiler',
  },
  {
    at: 'if (spelled.length !== name.length || spelled.toLowerCase() !== name) continue;',
    was: 'spelled.length !== name.length',
    why: 'a short way past a compare that such a name fails',
  },
  {
    at: 'if (body instanceof Uint8Array) return body.length ? body : body.slice(); // throws where they were transferred',
    was: 'body instanceof Uint8Array',
    why: 'a short way past what is made of any view: the same bytes',
  },
  {
    at: 'if (observe) (async () => observe(outcome))().catch(() => {});',
    was: 'observe',
    why: 'without an observer the call would reject, of which nobody hears',
  },
  {
    at: "return { state: 'released', token, fence, attempt, leaseUntil: 0, expiresAt: 0, fingerprint, alias };",
    was: "'released'",
    why: 'it is claimed or completed before anybody sees it',
  },
  {
    at: "entry.token = '';",
    was: "''",
    why: 'no claim has the one or the other for its token',
  },
  {
    at: 'await iterator?.return?.();',
    was: 'iterator?.return?.()',
    why: 'what it throws is caught',
  },
  {
    at: 'await iterator?.return?.();',
    was: 'iterator?.return',
    why: 'the same',
  },
  {
    at: 'if (store.init) await within(timeout(), () => (ready ??= store.init?.()));',
    was: 'store.init',
    why: 'a store without it would only be waited for in vain',
  },
  {
    at: 'if (store.init) await within(timeout(), () => (ready ??= store.init?.()));',
    was: 'store.init?.()',
    why: 'it is there; this is for the compiler',
  },
  {
    at: "t = t === undefined ? element.slice(2) : ''; // twice is none",
    was: "''",
    why: 'what stands there instead is no time either',
  },
  {
    at: 'attempt(() => trace.getActiveSpan()?.addEvent(outcome.kind, attributes));',
    was: 'trace.getActiveSpan()?.addEvent',
    why: 'what it throws is caught',
  },
  {
    at: "...(kind === 'handled' && { 'webhook.attempt': answer.attempt }),",
    was: "kind === 'handled'",
    why: 'an attribute that is undefined is not set',
  },
  {
    at: 'return options.observe?.(outcome);',
    was: 'options.observe?.(outcome)',
    why: 'what an observer throws is caught',
  },
  {
    at: 'const { rows = [], rowCount } = await pg.query(text, values); // no rows where it is several statements',
    was: '[]',
    why: 'several statements are sent to make a table, and nobody reads their rows',
  },
  {
    at: "if (error instanceof CallError && error.retry === 'later') limiter.block((error.retryAfter ?? 0) * 1000);",
    was: 'error instanceof CallError',
    why: 'nothing else is thrown there; this is for the compiler',
  },
  {
    at: 'if (!(error instanceof CallError)) throw error;',
    was: '!(error instanceof CallError)',
    why: 'a short way past a check that such an error fails; this is for the compiler',
  },
  {
    at: 'const [, title] = /<title[^>]*>([^<]*)/i.exec(text) ?? [];',
    was: '[]',
    why: 'its second element is looked at, and there is none either',
  },
  {
    at: 'const objects: object[] = [];',
    was: '[]',
    why: 'a text has none of the fields that are looked for',
  },
  {
    at: 'if (!Array.isArray(next)) objects.push(next);',
    was: '!Array.isArray(next)',
    why: 'a list has none of the fields that are looked for',
  },
  {
    at: 'if (value === null) return undefined;',
    was: 'value === null',
    why: 'a short way past checks that the word null fails',
  },
];
