export interface SiteAddress {
  /** The path that the site stands below: `/`, or `/<repository>/` for a project on GitHub Pages. */
  base: string;
  /** Returns the address of a file of the site with its host, or `undefined` where the host is not known. */
  urlOf(path: string): string | undefined;
}

export function addressFrom(siteUrl: string | undefined): SiteAddress;
export function htmlOf(page: string): string;
export function previewTags(
  address: SiteAddress,
  page: { page: string; title: string; description: string },
): ['meta', Record<string, string>][];
