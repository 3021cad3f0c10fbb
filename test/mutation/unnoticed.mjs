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
    at: "if (t === undefined || !UNIX_SECONDS.test(t)) throw malformed('t');",
    was: 't === undefined',
    why: 'the expression refuses the word undefined as well; this is for the compiler',
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
];
