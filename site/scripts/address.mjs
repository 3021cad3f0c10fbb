// Where the site is published. A build reads it from SITE_URL, because this repository does not know it.

/** Reads the address of the site. Without one, the site is built for the root of any host. */
export function addressFrom(siteUrl) {
  if (!siteUrl) return { base: '/', urlOf: () => undefined };
  if (!/^https?:\/\/[^?#]+$/.test(siteUrl) || !URL.canParse(siteUrl)) {
    throw new Error(
      `SITE_URL is "${siteUrl}", which is not an address of a site. Set it to the address where the site is published, such as https://owner.github.io/service-webhooks, or unset it.`,
    );
  }
  const { origin, pathname } = new URL(siteUrl);
  const base = pathname.replace(/\/*$/, '/');
  return { base, urlOf: (path) => `${origin}${base}${path}` };
}

/** The address of a page's HTML below the base. */
export const htmlOf = (page) => page.replace(/\.md$/, '.html').replace(/(^|\/)index\.html$/, '$1');

/** The tags from which other sites build the preview of a link. They follow addresses with a host and no others. */
export function previewTags({ urlOf }, { page, title, description }) {
  const url = urlOf(htmlOf(page));
  const picture = urlOf('link-picture.png');
  const properties = {
    'og:type': 'website',
    'og:site_name': 'service-webhooks',
    'og:title': title,
    'og:description': description,
    ...(url && { 'og:url': url }),
    ...(picture && {
      'og:image': picture,
      'og:image:width': '1200',
      'og:image:height': '630',
      'og:image:alt': 'service-webhooks: signed webhooks, received correctly',
    }),
  };
  const card = { name: 'twitter:card', content: picture ? 'summary_large_image' : 'summary' };
  return [...Object.entries(properties).map(([property, content]) => ['meta', { property, content }]), ['meta', card]];
}
