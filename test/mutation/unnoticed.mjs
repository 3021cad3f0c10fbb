// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines of the source as they stand there
/**
 * Changes that no test can notice, since the program does the same with them; `at` is the line as it stands in the
 * source, `next` the one behind it where that matters. Whatever else survives is a test that is missing.
 */
export const UNNOTICED = [
  {
    at: 'if (end < 0) end = value.length;',
    was: 'end < 0',
    why: 'a header that begins with a comma is refused either way: for what stands before it, or for the want of a time',
  },
  {
    at: "attempt: /^[1-9]\\d{0,8}$/.test(attempt ?? '') ? Number(attempt) : undefined,",
    was: "''",
    why: 'what stands there instead is no number either',
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
    at: "if (version !== PAYLOAD_VERSION && !(isDate(version) && version.length === 10)) return 'version';",
    was: 'version !== PAYLOAD_VERSION',
    why: 'a short way past a check that the version passes',
  },
  {
    at: "return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === +day;",
    was: "day <= '28'",
    why: 'a short way past a check that such a day passes',
  },
  {
    at: "return day <= '28' || new Date(text.slice(0, 10)).getUTCDate() === +day;",
    was: "'28'",
    why: 'the same',
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
    at: 'await this.#iterator?.return?.();',
    was: 'this.#iterator?.return?.()',
    why: 'what it throws is caught',
  },
  {
    at: 'await this.#iterator?.return?.();',
    was: 'this.#iterator?.return',
    why: 'the same',
  },
  {
    at: 'if (store.init) await within(Math.min(STORE_TIMEOUT_MS, deadline.remaining()), () => (ready ??= store.init?.()));',
    was: 'store.init',
    why: 'a store without it would only be waited for in vain',
  },
  {
    at: 'if (store.init) await within(Math.min(STORE_TIMEOUT_MS, deadline.remaining()), () => (ready ??= store.init?.()));',
    was: 'store.init?.()',
    why: 'it is there; this is for the compiler',
  },
  {
    at: 'heartbeat.unref?.();',
    was: 'heartbeat.unref?.()',
    why: 'a timer is a number on Workers alone, whose tests are not run for each change',
  },
  {
    at: "t = t === undefined ? value.slice(start + 2, end) : ''; // twice is none",
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
    at: "reset: has('reset') ? (at ?? (draw('reset') < 0.5 ? 'request' : 'answer')) : undefined,",
    was: "draw('reset') < 0.5",
    why: 'what is drawn is a hash, and none is known that gives just 0.5',
  },
  {
    at: "if (fault.rate === 0 || left === 0 || draw('whether', place) >= fault.rate) return false;",
    was: 'fault.rate === 0',
    why: 'a short way past a draw, which is never below 0',
  },
  {
    at: 'const [, authority] = /^https?:\\/\\/([^/?#]+)/i.exec(value) ?? [];',
    was: '[]',
    why: 'its second element is looked at, and there is none either',
  },
  {
    at: "const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');",
    was: "'2000::/3'",
    why: 'no test file can be loaded with it, and Stryker counts only tests that ran',
  },
  {
    at: 'if (size < MAX_ANSWER_BYTES) kept.push(chunk);',
    was: 'size < MAX_ANSWER_BYTES',
    why: 'what is kept beyond is cut off at the end, and only takes room',
  },
  {
    at: 'if (afterMs > 0 && !(await time.hold(afterMs))) return cut();',
    was: 'afterMs > 0',
    why: 'what is held for no time is over at once',
  },
  {
    at: "if (wire.slow === undefined && wire.reset !== 'request') return void request.end(asLatin1(bytes), 'latin1');",
    was: "wire.slow === undefined && wire.reset !== 'request'",
    why: 'the same bytes behind the head instead of with it, which only costs more',
  },
  {
    at: 'if (written === undefined) {',
    was: 'written === undefined',
    why: 'it is made anew, and comes out the same',
  },
  {
    at: "const sent = await send([endpoint], type ?? endpoint.events[0] ?? '', {}, true);",
    was: "''",
    why: 'an endpoint has one; this is for the compiler',
  },
  {
    at: "const content = typeof body === 'string' ? body : new Uint8Array(body);",
    was: "typeof body === 'string'",
    why: 'the same bytes; the copy is for the compiler',
  },
  {
    at: "let ownUrl = '';",
    was: "''",
    why: 'it is set before a request can come',
  },
  {
    at: "const ip = (socket as Socket).remoteAddress ?? '';",
    was: "''",
    why: 'without an address there is nobody left who could hear the answer',
  },
  {
    at: "ip: req.socket.remoteAddress ?? '',",
    was: "''",
    why: 'the same',
  },
  {
    at: "created.on('connect', ({ url = '' }, socket) => serveRaw(socket, 'CONNECT', url));",
    was: "''",
    why: 'a request has one; this is for the compiler',
  },
  {
    at: "method: req.method ?? '',",
    was: "''",
    why: 'the same',
  },
  {
    at: "path: pathOf(req.url ?? ''),",
    was: "''",
    why: 'the same',
  },
  {
    at: "if (values !== undefined) return { ...route, id: values[0] ?? '' };",
    was: "''",
    why: 'a route without an id in its path does not read it',
  },
  {
    at: "const [, bearer] = /^Bearer (.*)/i.exec(headers['authorization'] ?? '') ?? [];",
    was: "''",
    why: 'what stands there instead is no Bearer either',
  },
  {
    at: "const [, bearer] = /^Bearer (.*)/i.exec(headers['authorization'] ?? '') ?? [];",
    was: '[]',
    why: 'its second element is looked at, and there is none either',
  },
  {
    at: "if (key === undefined || account === undefined) throw new ApiError('invalid_api_key');",
    was: 'key === undefined',
    why: 'without a key there is no account; this is for the compiler',
  },
  {
    at: "const value = found[i] ?? '';",
    was: "''",
    why: 'both have as many; this is for the compiler',
  },
  {
    at: 'while (queue.length > 0 && queue.peek()?.run === undefined) queue.pop();',
    was: 'queue.peek()?.run',
    why: 'there is one; this is for the compiler',
  },
  {
    at: 'if (!holds()) return;',
    was: '!holds()',
    why: 'whoever is woken too early asks again, and waits on',
  },
  {
    at: 'if ((kept.at(middle)?.seq ?? 0) <= last) low = middle + 1;',
    was: 'kept.at(middle)?.seq',
    why: 'there is one; this is for the compiler',
  },
  {
    at: 'if (endpointId === undefined) forgotten += 1;',
    was: 'forgotten += 1',
    why: 'it is only compared with what it was',
  },
  {
    at: 'if (sent.failed !== undefined || plan.delayMs === 0) return sent;',
    was: 'plan.delayMs === 0',
    why: 'what is held for no time is over at once',
  },
  {
    at: 'for (const finished of [delivered, dead]) finished.filter(() => false);',
    was: '() => false',
    why: 'what stands there instead is false as well, to a filter',
  },
  {
    at: "return { event, emitted: { id, type, idempotencyKey: random.uuid('key', n), body: toBytes(event) } };",
    was: "'key'",
    why: 'any word does that nothing else is drawn for',
  },
  {
    at: "const body = wire.slow || reset === 'request' ? streamOf(wire, time) : new Uint8Array(wire.body);",
    was: "wire.slow || reset === 'request'",
    why: 'a stream has the same bytes, and only costs more',
  },
  {
    at: 'const read = await Promise.race([reader?.read(), passed]);',
    was: 'reader?.read',
    why: 'what it throws is caught, and there is no body to read',
  },
  {
    at: 'if (read?.value === undefined) break;',
    was: 'read?.value === undefined',
    why: 'what is thrown below without it is caught, and the text stays as it is',
  },
  {
    at: 'if (read?.value === undefined) break;',
    was: 'read?.value',
    why: 'what it throws is caught, and the text stays as it is',
  },
  {
    at: 'const alarm = clock.after(ms, () => wake?.(true));',
    was: 'wake?.(true)',
    why: 'it is there until the alarm is cancelled; this is for the compiler',
  },
  {
    at: 'wake?.(false);',
    was: 'false',
    why: 'once it has ended, nothing that is held is in time',
  },
  {
    at: "if (typeof item !== 'object' || item === null) return false;",
    was: "typeof item !== 'object' || item === null",
    why: 'a short way past a check that such an item fails',
  },
  {
    at: "if (typeof item !== 'object' || item === null) return false;",
    was: "typeof item !== 'object'",
    why: 'the same',
  },
  {
    at: "if (typeof item !== 'object' || item === null) return false;",
    was: 'item === null',
    why: 'the same',
  },
  {
    at: "return value === null ? 'null' : typeof value;",
    was: "'null'",
    why: 'any word does that is none of the kinds',
  },
  {
    at: "const [, amount, unit = ''] = /^(\\d+(?:\\.\\d+)?)(ms|s|m)$/.exec(text) ?? [];",
    was: "''",
    why: 'no unit has either name',
  },
  {
    at: "const [, amount, unit = ''] = /^(\\d+(?:\\.\\d+)?)(ms|s|m)$/.exec(text) ?? [];",
    was: '[]',
    why: 'only the first entry is another, and that one is not read',
  },
  {
    at: 'if (!/^https?:$/.test(url.protocol))',
    was: '/^https?:$/',
    why: 'a protocol ends with its colon',
  },
  {
    at: "const [pathname = '/'] = path.split('?', 1);",
    was: "'/'",
    why: 'there is a first part always; this is for the compiler',
  },
  {
    at: "return sent.status !== undefined && sent.headers['idempotency-replayed'] === 'true';",
    was: 'sent.status !== undefined',
    why: 'only acknowledged ones are asked about; this is for the compiler',
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
  {
    at: 'if (isWebhookError(error)) return { verdict: error.code, causes: [] };',
    was: 'isWebhookError(error)',
    why: 'nothing else is thrown there; this is for the compiler',
  },
  {
    at: "const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });",
    was: "'h23'",
    why: 'it throws there, so that no test file can be loaded, and Stryker counts only tests that ran',
  },
  {
    at: "const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });",
    was: "'medium'",
    why: 'the same',
  },
  {
    at: "const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });",
    was: "'h23'",
    why: 'the same',
  },
  {
    at: 'return id === undefined ? undefined : rows.get(id);',
    was: 'id === undefined',
    why: 'there is none without an id; this is for the compiler',
  },
  {
    at: 'if (made !== undefined) return made;',
    was: 'made !== undefined',
    why: 'what was made of the row is what would be made of it again',
  },
  {
    at: "const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';",
    was: "''",
    why: 'the document has one; this is for the compiler',
  },
  {
    at: "const token = document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content ?? '';",
    was: "document.querySelector<HTMLMetaElement>('meta[name=page-token]')?.content",
    why: 'the same',
  },
  {
    at: "const { host = '', origin } = req.headers;",
    was: "''",
    why: 'a request that names no host is refused before it is looked at',
  },
  {
    at: "return own.includes(headers.host?.toLowerCase() ?? '');",
    was: "''",
    why: 'the one and the other are no names of this machine',
  },
  {
    at: "let overviewSeen = '';",
    was: "''",
    why: 'what is seen at first is neither the one nor the other',
  },
  {
    at: 'const [, room, id] = /^\\/page\\/(\\w+)\\/(.+)/.exec(path) ?? [];',
    was: '[]',
    why: 'only the first entry is another, and that one is not read',
  },
  {
    at: "const path = (req.url ?? '').replace(/[?#].*/, '');",
    was: "''",
    why: 'a request has a URL; this is for the compiler',
  },
  {
    at: "function decoded(id = ''): string {",
    was: "''",
    why: 'it is there wherever it is looked at; this is for the compiler',
  },
  {
    at: "function put(into: Fields, [name = '', ...rest]: readonly string[], value: unknown): void {",
    was: "''",
    why: 'a path has a name; this is for the compiler',
  },
  {
    at: "const refused = verdict !== 'verified' && verdict !== 'unverified';",
    was: "verdict !== 'verified'",
    why: 'a short way past an explanation that has no cause for what is accepted',
  },
  {
    at: "const refused = verdict !== 'verified' && verdict !== 'unverified';",
    was: "'verified'",
    why: 'the same',
  },
  {
    at: "const status = reason === '2xx' || reason === 'non-2xx' ? answer?.status : undefined;",
    was: 'answer?.status',
    why: 'with these reasons there is an answer; this is for the compiler',
  },
  {
    at: "acknowledged ? undefined : (error ?? errorCode(answer?.body ?? '')),",
    was: "''",
    why: 'what stands there instead is no JSON either, and has no code',
  },
  {
    at: "const options = [command, program].flatMap((one) => one.options.map(({ long }) => long ?? ''));",
    was: "''",
    why: 'what stands there instead does not begin with the dash that was typed either',
  },
  {
    at: "const { code = '', message = String(error) } = error as NodeJS.ErrnoException;",
    was: "''",
    why: 'there are no words for what stands there instead either',
  },
  {
    at: "const t = /(?:^|,)t=(\\d{1,12})(?:,|$)/.exec(value ?? '')?.[1];",
    was: "''",
    why: 'what stands there instead has no time in it either',
  },
  {
    at: "if (options.events && !options.events.includes(seen.type ?? '')) return plain(200, 'not_subscribed');",
    was: "''",
    why: 'what stands there instead is no type of an event either',
  },
  {
    at: 'const [, date, hour, minute, rest] = /(\\d{8})T(\\d\\d)(\\d\\d)([\\d.]+Z)-[0-9a-f]{8}\\.http$/.exec(file) ?? [];',
    was: '[]',
    why: 'its second element is looked at, and there is none either',
  },
  {
    at: "return isWebhookError(problem) ? toResponse({ kind: 'rejected', error: problem }) : plain(503, 'not_kept');",
    was: "'rejected'",
    why: 'what is answered is the error, whatever it is called',
  },
  {
    at: 'const answers = open ? await answersTo(probe, requests, wire) : [];',
    was: '[]',
    why: 'what is skipped has no answers that are looked at',
  },
  {
    at: 'if (answer?.problem !== undefined)',
    was: 'answer?.problem',
    why: 'the first probe has a request, and so an answer; this is for the compiler',
  },
  {
    at: "const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });",
    was: "'utf-8'",
    why: 'no test file can be loaded with it, and Stryker counts only tests that ran',
  },
  {
    at: "const [contentLength = ''] = all('content-length');",
    was: "''",
    why: 'what stands there instead is no number either',
  },
  {
    at: 'if (age < 0)',
    was: 'age < 0',
    why: 'an age of 0 is never refused',
  },
  {
    at: "const [, name = '', signature = ''] = /^(v1=sha256=|v1=|sha256=|)([^=]+=?)$/i.exec(element) ?? [];",
    was: "''",
    why: 'there are both or neither, and what stands there instead is no signature',
  },
  {
    at: "const [, name = '', signature = ''] = /^(v1=sha256=|v1=|sha256=|)([^=]+=?)$/i.exec(element) ?? [];",
    was: '[]',
    why: 'only the first entry is another, and that one is not read',
  },
  {
    at: 'if (timestamp !== undefined && timestamp !== t && /^\\d{1,12}$/.test(timestamp)) {',
    was: 'timestamp !== undefined',
    why: 'a short way past a check that it fails; this is for the compiler',
  },
  {
    at: "if (!isWebhookError(error) || ['invalid_option', 'sync_crypto_unavailable'].includes(error.code)) throw error;",
    was: "'sync_crypto_unavailable'",
    why: 'the search for a signature that holds throws the same',
  },
  {
    at: "const ORDER: readonly Certainty[] = ['certain', 'likely', 'possible'];",
    was: "'certain'",
    why: 'what is not there comes first as well',
  },
  {
    at: "if (changed && length < declared && written === undefined) found.push(judge('body_incomplete', 'likely', lengths));",
    was: 'length < declared',
    why: 'with the declared length it is not changed',
  },
  {
    at: 'if (written !== undefined && written === text?.trimEnd()) {',
    was: 'text?.trimEnd',
    why: 'what could be parsed is text; this is for the compiler',
  },
  {
    at: "const signed = utf8Text(bytes) ?? '';",
    was: "''",
    why: 'what stands there instead is no JSON either',
  },
  {
    at: "if (has('body_reserialised') && given && plain === bare(utf8Text(given) ?? '')) {",
    was: "''",
    why: 'JSON in another form is text; this is for the compiler',
  },
  {
    at: "return JSON.stringify(JSON.parse(text ?? ''));",
    was: "''",
    why: 'what stands there instead is no JSON either',
  },
  {
    at: "token.startsWith('\"') ? token : write(token),",
    was: "token.startsWith('\"')",
    why: 'a string has a quote at either end',
  },
  {
    at: "check(URL.canParse(String(url)) && /^https?:$/.test(new URL(url).protocol), 'url must be http or https');",
    was: '/^https?:$/',
    why: 'a protocol ends with its colon',
  },
  {
    at: "const [mac = ''] = Object.values(sign({ body, secret: 'idempotency key', scheme: 'legacy' }));",
    was: "''",
    why: 'there is one; this is for the compiler',
  },
  {
    at: "if (/-(signature(-v2)?|timestamp)$/.test(name)) headers[name] = signed[name] ?? headers[name] ?? '';",
    was: "''",
    why: 'there is a value; this is for the compiler',
  },
  {
    at: "if (/-(signature(-v2)?|timestamp)$/.test(name)) headers[name] = signed[name] ?? headers[name] ?? '';",
    was: '/-(signature(-v2)?|timestamp)$/',
    why: 'with more behind it no header is signed, and it stays as it is',
  },
  {
    at: "textwise((text) => toSingleBytes(text, 'windows-1252')),",
    was: "'windows-1252'",
    why: 'it is whatever is not Latin-1',
  },
  {
    at: "['wrong_charset', 'read as Windows-1252 and written as UTF-8', (body) => fromSingleBytes(body, 'windows-1252')],",
    was: "'windows-1252'",
    why: 'it is whatever is not Latin-1',
  },
  {
    at: "['body_padded', 'without the zero bytes at its end', (body) => trimmed(body, [], [0])],",
    was: '[]',
    why: 'no byte is what stands there instead',
  },
  {
    at: "yield findings[0]?.cause === 'white_space_changed' ? { ...repair, findings: OTHER_END } : repair;",
    was: 'findings[0]?.cause',
    why: 'there is one; this is for the compiler',
  },
  {
    at: "function parsed(text = ''): { value: unknown } | undefined {",
    was: "''",
    why: 'what stands there instead is no JSON either',
  },
  {
    at: "function opensOnly(text = ''): boolean {",
    was: "''",
    why: 'what stands there instead does not begin as JSON either',
  },
  {
    at: "['secret_encoding', 'without its prefix, decoded from base64', (text) => fromBase64(withoutPrefix(text) ?? '')],",
    was: "''",
    why: 'what stands there instead is no base64 either',
  },
  {
    at: "incoming.on('error', () => {}); // Node emits none where nobody listens; others do",
    was: "'error'",
    why: 'Node emits none where nobody listens',
  },
  {
    at: 'await options.evict?.(made, first.key);',
    was: 'options.evict?.(made, first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const later = await options.restart?.(made);',
    was: 'options.restart?.(made)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const result = await later?.claim(rivalOf(first));',
    was: 'later?.claim',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: "must(result !== undefined && isHeld(result, LONG) && result.fence === 1, 'still in progress', result);",
    was: 'result !== undefined',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: "must(result?.status === 'completed', 'still completed', result);",
    was: 'result?.status',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'await store2.forget?.(first.key);',
    was: 'store2.forget?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: "must((await store2.inspect?.(first.key)) === undefined, 'an absent row is undefined');",
    was: 'store2.inspect?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const held = await store2.inspect?.(first.key);',
    was: 'store2.inspect?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const released = await store2.inspect?.(first.key);',
    was: 'store2.inspect?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const completed = await store2.inspect?.(first.key);',
    was: 'store2.inspect?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const found = await store.inspect?.(first.key);',
    was: 'store.inspect?.(first.key)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'store.purgeExpired?.({ limit: 2 }),',
    was: 'store.purgeExpired?.({ limit: 2 })',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'store2.purgeExpired?.({ limit: 2 }),',
    was: 'store2.purgeExpired?.({ limit: 2 })',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'await options.disconnect?.(made);',
    was: 'options.disconnect?.(made)',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'const store = await options.unreachable?.();',
    was: 'options.unreachable?.()',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'store?.claim(request()).then(',
    was: 'store?.claim',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'await store?.close?.();',
    was: 'store?.close',
    why: 'the case is skipped without it; this is for the compiler',
  },
  {
    at: 'return ms !== undefined && ms > atMost / 2 && ms <= atMost;',
    was: 'ms !== undefined',
    why: 'a short way past a compare that it fails; this is for the compiler',
  },
  {
    at: "must(result.status === 'in_progress' && result.retryAfterMs > LONG / 2, 'retryAfterMs is milliseconds', result);",
    was: "result.status === 'in_progress'",
    why: 'no other answer has a retryAfterMs; this is for the compiler',
  },
  {
    at: "must(other.status === 'in_progress' && other.retryAfterMs > LONG / 2, 'a renewed lease', other);",
    was: "other.status === 'in_progress'",
    why: 'no other answer has a retryAfterMs; this is for the compiler',
  },
  {
    at: "must(held.status === 'in_progress' && held.retryAfterMs > LONG / 2, 'the lease was extended', held);",
    was: "held.status === 'in_progress'",
    why: 'no other answer has a retryAfterMs; this is for the compiler',
  },
  {
    at: "return result.status === 'in_progress' && result.retryAfterMs > 0 && result.retryAfterMs <= leaseMs;",
    was: "result.status === 'in_progress'",
    why: 'no other answer has a retryAfterMs; this is for the compiler',
  },
  {
    at: "must(again.status === 'acquired' && again.fence === 1 && again.attempt === 1, 'the same claim', again);",
    was: "again.status === 'acquired'",
    why: 'no other answer has an attempt; this is for the compiler',
  },
  {
    at: "must(result.status === 'acquired' && result.attempt === 1, 'a new row: attempt 1', result);",
    was: "result.status === 'acquired'",
    why: 'no other answer has an attempt; this is for the compiler',
  },
  {
    at: "const same = answers.every((a) => a.status === 'acquired' && a.fence === 1 && a.attempt === 1);",
    was: "a.status === 'acquired'",
    why: 'no other answer has an attempt; this is for the compiler',
  },
  {
    at: "if (first.status === 'acquired') await client.complete(refOf(rival, first), rival);",
    was: "first.status === 'acquired'",
    why: 'who has lost completes nothing',
  },
  {
    at: 'const second = rivalOf(first, { leaseMs: LONG });',
    was: '{ leaseMs: LONG }',
    why: 'either is over only on a machine that is slow',
  },
  {
    at: 'const rival = rivalOf(request, { leaseMs: LONG });',
    was: '{ leaseMs: LONG }',
    why: 'either is over only on a machine that is slow',
  },
  {
    at: 'const first = request({ retainMs: LONG });',
    was: '{ retainMs: LONG }',
    why: 'either is longer than the case',
  },
  {
    at: "const second = rivalOf(first, { fingerprint: 'other-body', alias: 'other-alias' });",
    was: "'other-body'",
    why: 'any text does that is another',
  },
  {
    at: "const second = rivalOf(first, { fingerprint: 'other-body', alias: 'other-alias' });",
    was: "'other-alias'",
    why: 'any text does that is another',
  },
  {
    at: "const result = await store.claim({ ...second, alias: 'other-alias' });",
    was: "'other-alias'",
    why: 'any text does that is another',
  },
  {
    at: "const { result } = await acquire(rivalOf(first, { fingerprint: 'other-body' }));",
    was: "'other-body'",
    why: 'any text does that is another',
  },
  {
    at: "const result = await store2.claim(rivalOf(first, { fingerprint: 'other-body' }));",
    was: "'other-body'",
    why: 'any text does that is another',
  },
  {
    at: "const strange = { ...refOf(stranger, result), fingerprint: 'other-body', alias: 'other-alias' };",
    was: "'other-body'",
    why: 'any text does that is another',
  },
  {
    at: "const strange = { ...refOf(stranger, result), fingerprint: 'other-body', alias: 'other-alias' };",
    was: "'other-alias'",
    why: 'any text does that is another',
  },
  {
    at: 'if (size < MAX_ANSWER_BYTES) chunks.push(chunk);',
    was: 'size < MAX_ANSWER_BYTES',
    why: 'more is kept then, and is cut off all the same',
  },
  {
    at: 'size += chunk.length;',
    was: 'size += chunk.length',
    why: 'the same',
  },
  {
    at: "response.on('error', () => {});",
    was: "'error'",
    why: 'Node emits none where nobody listens',
  },
  {
    at: 'writeBody(request, outgoing, signal).catch(() => request.destroy());',
    was: '() => request.destroy()',
    why: 'it rejects where the same signal has ended the request',
  },
  {
    at: 'for (let offset = 0; offset < body.length; offset += size) {',
    was: 'offset < body.length',
    why: 'an empty piece is nothing on the wire',
  },
  {
    at: 'if (outgoing.breakOff) await sleep(SEEN_BY_MS);',
    was: 'outgoing.breakOff',
    why: 'it gives the other side some time, and nothing else',
  },
  {
    at: "const { code = '', message } = error as NodeJS.ErrnoException;",
    was: "''",
    why: 'there are no words for what stands there instead either',
  },
  {
    at: ".version(manifest.version, '-V, --version', 'the version')",
    was: "'-V, --version'",
    why: 'that is what the argument parser takes where there is nothing',
  },
  {
    at: "summary: 'what may come next',",
    was: "'what may come next'",
    why: 'the help does not list it',
  },
  {
    at: "return new Failure('usage', `${message.replace(/^invalid_option: /, '')}. ${hint}`);",
    was: '/^invalid_option: /',
    why: 'a message begins with its code, which is there once',
  },
  {
    at: "const line = message.replace(/^error: /, '').replace(/\\s*\\n\\s*/g, ' ');",
    was: '/^error: /',
    why: 'what the argument parser says begins with it',
  },
  {
    at: 'const rowOf = (id: string) => toDeliveryRow(id, log.deliveries.get(id) ?? [], headerPrefix);',
    was: '[]',
    why: 'only what is kept has a row; this is for the compiler',
  },
  {
    at: "const response = sent.status === undefined ? { status: 0, headers: {}, body: '' } : sent;",
    was: "''",
    why: 'where there is no answer none is shown',
  },
  {
    at: 'const anew = exact || secret === undefined ? {} : { headers: signAnew(last.message, { secret, at, headerPrefix }) };',
    was: 'secret === undefined',
    why: 'that has been checked; this is for the compiler',
  },
  {
    at: "const number = /^[1-9]\\d{0,5}$/.test(seen.attempt ?? '') ? Number(seen.attempt) : 1;",
    was: "''",
    why: 'what stands there instead is no number either',
  },
  {
    at: 'const changes = { ...(url !== undefined && { url }), ...(events !== undefined && { events }) };',
    was: 'url !== undefined',
    why: 'JSON leaves out what is undefined; this is for the compiler',
  },
  {
    at: 'const changes = { ...(url !== undefined && { url }), ...(events !== undefined && { events }) };',
    was: 'events !== undefined',
    why: 'the same',
  },
  {
    at: "const overBody = delivery.headers[legacy]?.slice('sha256='.length);",
    was: 'delivery.headers[legacy]?.slice',
    why: 'it is there; this is for the compiler',
  },
  {
    at: "const old = sign({ ...delivery, secret, at: delivery.at - 3_600_000, scheme: 'v2', headerPrefix })[v2] ?? '';",
    was: "''",
    why: 'it is there; this is for the compiler',
  },
  {
    at: 'const moved = old.replace(/^t=\\d+/, `t=${Math.floor(delivery.at / 1000)}`);',
    was: '/^t=\\d+/',
    why: 'it begins with its time, and only the first match is replaced',
  },
  {
    at: 'if (isWebhookError(error)) return { verdict: error.code };',
    was: 'isWebhookError(error)',
    why: 'nothing else is thrown there; this is for the compiler',
  },
  {
    at: "return !holds('retries left', delivery);",
    was: "'retries left'",
    why: 'the row before asks for retries left, and is taken where there are any',
  },
  {
    at: "t = t === undefined ? value.slice(start + 2, end) : ''; // twice is none",
    was: "''",
    why: 'text that is no number is refused as none is',
  },
  {
    at: 'const [, name, share] = /^(\\w+)=([\\d.]+)$/.exec(text) ?? [];',
    was: '[]',
    why: 'what is put into it stands before what is read',
  },
  {
    at: 'if (name !== undefined && Number(share) <= 1) return { ...others, [name]: Number(share) };',
    was: 'name !== undefined',
    why: 'without a name there is no share either, which fails the compare',
  },
  {
    at: '.action(async (given, { secret: sources, only, skip = [], junit, timeout: timeoutMs, headerPrefix }) => {',
    was: '[]',
    why: 'no probe has the name that is put into it',
  },
  {
    at: "all.push(sent.status === undefined ? sent : { ...sent, headers: {}, body: '' }); // a million answers are much",
    was: 'sent.status === undefined',
    why: 'the summary shows none of what is dropped; it is for memory alone',
  },
  {
    at: "all.push(sent.status === undefined ? sent : { ...sent, headers: {}, body: '' }); // a million answers are much",
    was: "''",
    why: 'the same',
  },
  {
    at: "if (body !== undefined || type === undefined) return { delivery: signDelivery({ ...signing, body: body ?? '' }) };",
    was: 'type === undefined',
    why: 'a type is missing only where there is a body; this is for the compiler',
  },
  {
    at: "if (body !== undefined || type === undefined) return { delivery: signDelivery({ ...signing, body: body ?? '' }) };",
    was: "''",
    why: 'the same',
  },
  {
    at: '() => false,',
    was: '() => false',
    why: 'undefined is as false',
  },
  {
    at: "const { method = 'GET', url = '/', rawHeaders } = req;",
    was: "'GET'",
    why: 'what a server gets has one; this is for the compiler',
  },
  {
    at: "const { method = 'GET', url = '/', rawHeaders } = req;",
    was: "'/'",
    why: 'the same',
  },
  {
    at: "for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');",
    was: "''",
    why: 'they come in pairs; this is for the compiler',
  },
  {
    at: "const [begun, at, path] = [performance.now(), options.now(), req.url ?? '/'];",
    was: "'/'",
    why: 'what a server gets has one; this is for the compiler',
  },
  {
    at: 'const handling: Promise<void> = handle(req, res).finally(() => pending.delete(handling));',
    was: '() => pending.delete(handling)',
    why: 'what has ended holds nothing up; it is for memory alone',
  },
  {
    at: '} catch {',
    was: '{',
    next: 'return undefined;',
    why: 'a function that comes to its end gives undefined too',
  },
  {
    at: '} catch {',
    was: '{',
    next: 'return {};',
    why: 'undefined is spread as an empty object is',
  },
  {
    at: 'const runs = useStore((state) => state.overview.speed > 0);',
    was: 'state.overview.speed > 0',
    why: 'drawn again each second, with the same time',
  },
  {
    at: 'if (!runs) return;',
    was: '!runs',
    why: 'the same',
  },
  {
    at: 'return () => clearInterval(timer);',
    was: '() => clearInterval(timer)',
    why: 'what is drawn no more is not drawn again; it is for memory alone',
  },
  {
    at: '}, [runs]);',
    was: '[runs]',
    why: 'whether a clock runs by itself does not change while a page is open',
  },
  {
    at: 'const drawn = useRef({ select, part });',
    was: '{ select, part }',
    why: 'the next line sets it',
  },
  {
    at: 'if (!Object.is(select(current()), part)) redraw({});',
    was: '!Object.is(select(current()), part)',
    why: 'what is drawn again is the same; it saves work alone',
  },
  {
    at: 'return () => observer.disconnect();',
    was: '() => observer.disconnect()',
    why: 'what is drawn no more is not drawn again; it is for memory alone',
  },
  {
    at: 'if (ref.current) observer.observe(ref.current);',
    was: 'ref.current',
    why: 'it is there once it is drawn; this is for the compiler',
  },
  {
    at: 'if (box) setBox({ top: box.scrollTop, height: box.clientHeight });',
    was: 'box',
    why: 'the same',
  },
  {
    at: '}, []);',
    was: '[]',
    why: 'one that is always the same too',
  },
  {
    at: 'if (!box) return;',
    was: '!box',
    why: 'it is there once it is drawn; this is for the compiler',
  },
  {
    at: 'ref.current?.focus({ preventScroll: true });',
    was: 'ref.current?.focus',
    why: 'the same',
  },
  {
    at: "if (event.key === 'Enter') document.getElementById('delivery')?.focus();",
    was: "document.getElementById('delivery')?.focus",
    why: 'the same',
  },
  {
    at: 'return json.replaceAll(/("(?:[^"\\\\]|\\\\.)*")|\\s+/g, \'$1\');',
    was: '/("(?:[^"\\\\]|\\\\.)*")|\\s+/g',
    why: 'white space within a text is the same before and after; it may go from both',
  },
  {
    at: "'401 missing_signature': aRequest({ ...delivery, headers: { 'content-type': 'application/json' } }),",
    was: "{ 'content-type': 'application/json' }",
    why: 'a delivery without a signature, with that header or without',
  },
  {
    at: "'401 missing_signature': aRequest({ ...delivery, headers: { 'content-type': 'application/json' } }),",
    was: "'application/json'",
    why: 'a delivery without a signature, of whatever type',
  },
  {
    at: "'401 malformed_signature': aRequest(delivery, { 'x-service-signature-v2': 'v1=zz' }),",
    was: "'v1=zz'",
    why: 'an empty header is as malformed',
  },
  {
    at: 'must(inShort({ status, headers, text }) === expected, `must be answered with ${expected}`, { status, text });',
    was: '{ status, text }',
    why: 'what the message shows beside what was expected',
  },
  {
    at: "const value = `${delivery.headers['x-service-signature-v2']}`;",
    was: "`${delivery.headers['x-service-signature-v2']}`",
    why: 'two headers are refused whatever is in the second',
  },
  {
    at: "const value = `${delivery.headers['x-service-signature-v2']}`;",
    was: "'x-service-signature-v2'",
    why: 'two headers are refused whatever is in the second',
  },
  {
    at: "const one = { 'x-service-signature-v2': `${value}, ${value}` };",
    was: '`${value}, ${value}`',
    why: 'an empty header is as malformed',
  },
  {
    at: 'const answer = await app.send(aRequest(delivery.again({ attempt: 2 })));',
    was: '{ attempt: 2 }',
    why: 'a header that nothing depends on; it is what a sender says',
  },
  { at: "if (broken) throw new Error('no disk');", was: "'no disk'", why: 'any text does' },
  {
    at: 'const app = await trial.start({ work: () => opened.then(() => 200), deadlineMs: 300 });',
    was: '() => 200',
    why: 'a handler that says nothing is answered with 200',
  },
  {
    at: 'mustBeBytes(app.worked[0]?.body, delivery.body);',
    was: 'app.worked[0]?.body',
    why: 'there is one, by the line above; this is for the compiler',
  },
  {
    at: 'const body = Uint8Array.from([...utf8.encode(\'{"id":"evt_1\'), 0xff, 0xc3, 0x28, 0x00, 0x22, 0x7d]);',
    was: '\'{"id":"evt_1\'',
    why: 'bytes that are no UTF-8 are that without it too',
  },
  {
    at: "must(!text.includes('signature_mismatch'), 'the signature must hold', { status, text });",
    was: '{ status, text }',
    why: 'what the message shows beside what was expected',
  },
  {
    at: "const answer = inShort(await app.send(aRequest(aDelivery({ body: '' }))));",
    was: "''",
    why: 'another text that is no JSON',
  },
  {
    at: 'const delivery = aDelivery({ body: \'{"id": \' });',
    was: '\'{"id": \'',
    why: 'the empty text is no JSON either',
  },
  {
    at: 'const wide = await trial.start({ maxBodyBytes: delivery.body.length });',
    was: '{ maxBodyBytes: delivery.body.length }',
    why: 'below the default the body is taken all the same',
  },
  {
    at: 'const delivery = aDelivery({ body: anEvent(`, "x": "${\'x\'.repeat(200_000)}"`) });',
    was: '{ body: anEvent(`, "x": "${\'x\'.repeat(200_000)}"`) }',
    why: 'a small body has a limit too; a great one comes in several chunks',
  },
  {
    at: 'const delivery = aDelivery({ body: anEvent(`, "x": "${\'x\'.repeat(200_000)}"`) });',
    was: '`, "x": "${\'x\'.repeat(200_000)}"`',
    why: 'a small body has a limit too; a great one comes in several chunks',
  },
  {
    at: 'const delivery = aDelivery({ body: anEvent(`, "x": "${\'x\'.repeat(200_000)}"`) });',
    was: "'x'",
    why: 'a small body has a limit too; a great one comes in several chunks',
  },
  {
    at: "must(error.code === 'body_incomplete', 'the observer must be told what happened', error.code);",
    was: "'the observer must be told what happened'",
    why: 'what the message says',
  },
  {
    at: "must(attempt === 2, 'by the second attempt', attempt);",
    was: "'by the second attempt'",
    why: 'what the message says',
  },
  {
    at: "must(error.code === 'handler_failed', 'the observer must be told of it', error.code);",
    was: "'the observer must be told of it'",
    why: 'what the message says',
  },
  {
    at: "must(attempt === 2, 'and count as the second', attempt);",
    was: "'and count as the second'",
    why: 'what the message says',
  },
  {
    at: "dedupe: { store: storeDown ? { ...memory, claim: () => Promise.reject(new Error('the store is away')) } : memory },",
    was: "'the store is away'",
    why: 'any text does',
  },
  {
    at: "dedupe: { store: storeDown ? { ...memory, claim: () => Promise.reject(new Error('the store is away')) } : memory },",
    was: "() => Promise.reject(new Error('the store is away'))",
    why: 'a claim that is no promise fails too',
  },
  {
    at: "() => `no ${what} among: ${outcomes.map(({ kind, error }) => `${kind} ${error ?? ''}`).join(', ')}`,",
    was: "''",
    why: 'what the message shows',
  },
  {
    at: "() => `no ${what} among: ${outcomes.map(({ kind, error }) => `${kind} ${error ?? ''}`).join(', ')}`,",
    was: "', '",
    why: 'what the message shows',
  },
  {
    at: "must(isOf(kind, next), `the receiver must decide ${kind}`, `${next.kind} ${next.error ?? ''}`);",
    was: "next.error ?? ''",
    why: 'what the message shows',
  },
  {
    at: "must(isOf(kind, next), `the receiver must decide ${kind}`, `${next.kind} ${next.error ?? ''}`);",
    was: "''",
    why: 'what the message shows',
  },
  { at: "throw new PermanentError('no such clip');", was: "'no such clip'", why: 'any text does' },
  {
    at: "for (let tries = 0; result.status === 'in_progress' && tries < 50; tries += 1) {",
    was: 'tries < 50',
    why: 'one try more, of those that are there for a slow machine',
  },
  {
    at: 'must(passed >= lease * 0.9, `not before ${lease} ms`, passed);',
    was: 'passed >= lease * 0.9',
    why: 'nothing takes exactly that long',
  },
  {
    at: "must(held.status === 'in_progress' && held.retryAfterMs > LONG / 2, 'the lease was extended', held);",
    was: 'held.retryAfterMs > LONG / 2',
    why: 'nothing takes exactly that long',
  },
  {
    at: 'if (performance.now() > end) throw error;',
    was: 'performance.now() > end',
    why: 'nothing takes exactly that long',
  },
  { at: 'const client = i % 2 === 0 ? store : store2;', was: 'i % 2 === 0', why: 'each half gets the other part' },
  {
    at: 'return Promise.all(requests.map((request, i) => (i % 2 === 0 ? store : store2).claim(request)));',
    was: 'i % 2 === 0',
    why: 'each half gets the other part',
  },
  {
    at: 'const answers = await Promise.all(rivals.map((rival, i) => (i % 2 === 0 ? store : store2).claim(rival)));',
    was: 'i % 2 === 0',
    why: 'each half gets the other part',
  },
  {
    at: "must((result.seen?.fingerprint ?? 'other-body') === 'other-body', 'a new row: seen for the first time', result);",
    was: "'other-body'",
    why: 'any text does that is another',
  },
  {
    at: "must((result.seen?.fingerprint ?? 'other-body') === 'other-body', 'a new row: seen for the first time', result);",
    was: 'result.seen?.fingerprint',
    why: 'a store says what was seen; this is for the compiler',
  },
  {
    at: "const call = http.request({ host: '127.0.0.1', port, path, method, headers: flat, agent: false });",
    was: "'127.0.0.1'",
    why: 'without a host it is this machine too',
  },
  { at: "for await (const piece of response.setEncoding('utf8')) text += piece;", was: "'utf8'", why: 'the default' },
  {
    at: 'return body instanceof Uint8Array ? [body].filter(({ length }) => length > 0) : body;',
    was: '[body].filter(({ length }) => length > 0)',
    why: 'an empty piece sends nothing',
  },
  {
    at: 'return body instanceof Uint8Array ? [body].filter(({ length }) => length > 0) : body;',
    was: 'length > 0',
    why: 'an empty piece sends nothing',
  },
];
