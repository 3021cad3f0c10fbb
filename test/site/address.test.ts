import { describe, expect, it } from 'vitest';
import { addressFrom, htmlOf, previewTags } from '../../site/scripts/address.mjs';

describe.each([
  ['https://owner.github.io/service-webhooks', 'https://owner.github.io', '/service-webhooks/'],
  ['https://owner.github.io/service-webhooks/', 'https://owner.github.io', '/service-webhooks/'],
  ['https://webhooks.example', 'https://webhooks.example', '/'],
  ['https://webhooks.example/', 'https://webhooks.example', '/'],
  ['http://127.0.0.1:8080/a/b', 'http://127.0.0.1:8080', '/a/b/'],
])('the site at %s', (siteUrl, origin, base) => {
  const address = addressFrom(siteUrl);

  it('links start at the path of the address', () => {
    expect(address.base).toBe(base);
  });

  it('the preview of a link has the absolute addresses of the page and of the picture', () => {
    expect(tagsOf(siteUrl, 'quickstart/express.md')).toMatchObject({
      'og:title': 'Express',
      'og:url': `${origin}${base}quickstart/express.html`,
      'og:image': `${origin}${base}link-picture.png`,
      'twitter:card': 'summary_large_image',
    });
    expect(tagsOf(siteUrl, 'index.md')['og:url']).toBe(`${origin}${base}`);
  });
});

it.each([undefined, ''])(
  'a site without an address (%o) is for the root of a host, and a preview has no picture',
  (url) => {
    expect(addressFrom(url).base).toBe('/');
    expect(tagsOf(url, 'quickstart/express.md')).toEqual({
      'og:type': 'website',
      'og:site_name': 'service-webhooks',
      'og:title': 'Express',
      'og:description': 'For Express 4 and 5.',
      'twitter:card': 'summary',
    });
  },
);

it.each([
  'owner.github.io/service-webhooks',
  '/service-webhooks/',
  'ftp://owner.example',
  'https://a.example/?b',
  'https://',
])('the address %s fails the build with what to set', (siteUrl) => {
  expect(() => addressFrom(siteUrl)).toThrow(`SITE_URL is "${siteUrl}"`);
});

it('the address of an index page is its folder', () => {
  expect(['index.md', 'api/index.md', 'errors.md'].map(htmlOf)).toEqual(['', 'api/', 'errors.html']);
});

/** The content of each tag by its name. */
function tagsOf(siteUrl: string | undefined, page: string): Record<string, string> {
  const tags = previewTags(addressFrom(siteUrl), { page, title: 'Express', description: 'For Express 4 and 5.' });
  return Object.fromEntries(tags.map(([, { property, name, content = '' }]) => [property ?? name, content]));
}
