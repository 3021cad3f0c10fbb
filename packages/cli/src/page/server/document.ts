import { readFile } from 'node:fs/promises';

/** Headers that prevent requests to other machines, and that content from the network becomes markup or script. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Returns the page before its script has run. `token` is hexadecimal. */
export function documentOf(title: string, token: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="page-token" content="${token}">
<title>${escaped(title)}</title>
<link rel="icon" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
<script type="module" src="/page/page.js"></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The built files of `front/`. */
export interface Assets {
  script: Buffer;
  style: Buffer;
}

/** Next to the program, where both are built. */
const BUILT = new URL('page/', import.meta.url);

/** Rejects where the page is not built. */
export async function readAssets(directory: URL = BUILT): Promise<Assets> {
  const [script, style] = await Promise.all(['page.js', 'style.css'].map((name) => readFile(new URL(name, directory))));
  return { script: script as Buffer, style: style as Buffer };
}

/** An open ring, in the accent colour of the page. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 4a12 12 0 1 0 12 12" fill="none" stroke="#3b6ef5" stroke-width="5" stroke-linecap="round"/><circle cx="24" cy="8" r="4" fill="#3b6ef5"/></svg>';
