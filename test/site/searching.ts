import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DIST, openSearch, type Site, search } from './built-site.js';

/** What a reader asks, what they type, where the answer is, and words of it. */
const QUESTIONS: [question: string, words: string, page: string, answer: RegExp][] = [
  ['Where is the raw body consumed in Next?', 'next raw body', '/quickstart/next.html', /request\.json\(\)/],
  ['How do I keep the raw body?', 'raw body', '/quickstart/express.html#raw-body', /consumes the bytes/],
  ['How do I rotate a secret?', 'rotate', '/rotate-a-secret.html', /Create the second endpoint/],
  [
    'What is in data of dubbing.completed?',
    'dubbing.completed data',
    '/events.html',
    /fields the service does not document/,
  ],
  ['Which fields has generation.completed?', 'generation.completed', '/events.html', /downloadUrl/],
  ['Why is every delivery answered 401?', '401', '/troubleshooting.html', /secret belongs to another endpoint/],
  ['Why is a delivery answered 503?', '503', '/troubleshooting.html', /The answer is 503/],
  ['What does signature_mismatch mean?', 'signature_mismatch', '/errors.html#signature_mismatch', /signature_mismatch/],
  ['What is logged?', 'what is logged', '/monitoring.html#what-is-logged', /Never logged/],
  ['Are there metrics for Prometheus?', 'prometheus', '/monitoring.html#dashboard-and-alerts', /prom-client/],
  [
    'Does a retry run twice on Lambda?',
    'retry twice lambda',
    '/quickstart/aws-lambda.html',
    /default memory store it can/,
  ],
  ['How do I test without a server?', 'test without server', '/testing.html', /You need no server/],
  ['What do I do after a pause?', 'paused endpoint', '/retries.html', /Enable the endpoint again/],
  ['Which store for two machines?', 'store several hosts', '/stores.html', /several hosts and Redis/],
  ['Can I use Node 20?', 'node 20', '/compatibility.html', /from 20\.19 on/],
  ['Which types can I import?', 'types', '/types.html', /TypeScript types you import/],
  ['Can the header be the key?', 'idempotency key', '/receiving.html#idempotency-key', /unsigned/],
  ['What does leaseMs mean?', 'leaseMs', '/options.html#dedupeleasems', /leaseMs/],
  ['How do I migrate from svix?', 'svix', '/migrate.html', /svix/],
  ['How do I work in the background?', 'background', '/background-work.html', /in the handler, before the/],
  ['How do I mock it?', 'mock', '/mocking.html', /mock your own mailer or database/],
  ['What happens to a compressed body?', 'gzip', '/troubleshooting.html', /unsupported_content_encoding/],
  ['How large is it in a bundle?', 'bundle size', '/bundle-size.html', /the whole core/],
  ['Can one server serve several vendors?', 'several vendors', '/several-vendors.html', /a path of its own/],
  ['How does ConfigService give the secret?', 'ConfigService', '/integrations.html', /getOrThrow/],
  ['How do I work behind API Gateway?', 'API Gateway', '/quickstart/aws-lambda.html', /Behind API Gateway/],
  ['Which body arrives in base64?', 'base64', '/quickstart/aws-lambda.html', /isBase64Encoded/],
  ['How do I handle once in a transaction of Prisma?', 'Prisma', '/integrations.html#prisma', /prisma\.\$transaction/],
  ['Does pnpm work?', 'pnpm', '/integrations.html', /pnpm add/],
  ['What is the header that begins with sha256=?', 'sha256=', '/receiving.html', /HMAC-SHA256 of the body/],
  ['How do I start with Nuxt?', 'nuxt', '/quickstart/h3.html', /server\/routes\/webhooks\.post\.ts/],
];

/** Each search has an index of its own, a JavaScript file that is loaded when the search opens. */
function indexOf(locale: 'root' | 'api'): string {
  const folder = join(DIST, 'assets/chunks');
  const name = readdirSync(folder).find((file) => file.startsWith(`@localSearchIndex${locale}.`)) ?? '';
  return readFileSync(join(folder, name), 'utf8');
}

/** The search of the guides, and that of the API reference. */
export function testSearch(site: Site): void {
  it('the first result for each question is the page with the answer', async () => {
    const page = await site.open('/start.html');
    const reader = await site.open('/start.html', { javaScriptEnabled: false });
    for (const [question, words, address, answer] of QUESTIONS) {
      const results = await search(page, words);
      expect(results[0]?.href, `${question}\n${results.map(({ href }) => href).join('\n')}`).toContain(address);
      await reader.goto(new URL(results[0]?.href ?? '', page.url()).href);
      expect(await reader.locator('.vp-doc').innerText(), question).toMatch(answer);
    }
  });

  it('a search of the guides finds a symbol in the guides', async () => {
    const results = await search(await site.open('/start.html'), 'webhookHandler');
    expect(results.length).toBeGreaterThan(5);
    for (const { href } of results) expect(href).not.toContain('/api/');
  });

  it('a search on a page of the API reference finds a symbol in the reference', async () => {
    const page = await site.open('/api/service-webhooks/express.html');
    const results = await search(page, 'webhookHandler');
    expect(results[0]?.href).toMatch(/#webhookhandler/);
    for (const { href } of results) expect(href).toMatch(/^\/api\//);
    await page.locator('.search-state').getByText('Searches the API reference').waitFor();
  });

  it('each page is in one of the two indexes', () => {
    expect(indexOf('root')).not.toContain('"/api/');
    expect(indexOf('api')).not.toMatch(/"\/(?!api\/)[\w/-]*\.html/);
    expect(indexOf('root').length).toBeLessThan(700_000);
  });

  it('the search says that it is loading until its index is there', async () => {
    const page = await site.open('/start.html');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/localSearchIndexroot/, async (route) => {
      await released;
      await route.continue();
    });
    const field = await openSearch(page);
    await field.fill('rotate');
    await page.locator('.search-state').getByText('Loading the search index').waitFor();
    expect(await page.locator('.VPLocalSearchBox a.result').count()).toBe(0);
    release();
    await page.locator('.VPLocalSearchBox a.result').first().waitFor();
    await page.locator('.search-state').getByText('Searches the guides').waitFor();
  });
}
