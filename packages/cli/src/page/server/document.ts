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

/** A view is a document with its own script. */
export type View = 'deliveries' | 'queue' | 'jobs';

const PARTS: Readonly<Record<View, { script: string; styles: readonly string[] }>> = {
  deliveries: { script: 'page.js', styles: ['style.css'] },
  queue: { script: 'queue.js', styles: ['style.css', 'queue-style.css'] },
  jobs: { script: 'jobs.js', styles: ['style.css', 'queue-style.css'] },
};

export interface DocumentOptions {
  title: string;
  /** Hexadecimal, as is `run`. */
  token: string;
  /** The run whose handles the view has in its address. */
  run?: string;
  view: View;
  /** All that the server has. */
  views: readonly View[];
}

/** Returns a view before its script has run. */
export function documentOf({ title, token, run = '', view, views }: DocumentOptions): string {
  const { script, styles } = PARTS[view];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="page-token" content="${token}">
<meta name="page-run" content="${run}">
<meta name="page-views" content="${views.join(' ')}">
<title>${escaped(title)}</title>
<link rel="icon" href="/page/icon.svg">
${styles.map((name) => `<link rel="stylesheet" href="/page/${name}">`).join('\n')}
<script type="module" src="/page/${script}"></script>
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
  /** Those of the view of a queue, which has the other style sheet too. */
  queue?: { script: Buffer; style: Buffer } | undefined;
  /** That of the view of jobs, which has both style sheets. */
  jobs?: { script: Buffer } | undefined;
}

/** Next to the program, where both are built. */
const BUILT = new URL('page/', import.meta.url);

/** Rejects where the page is not built. */
export async function readAssets(directory: URL = BUILT): Promise<Assets> {
  const read = (name: string) => readFile(new URL(name, directory));
  const [script, style, queueScript, queueStyle, jobsScript] = await Promise.all([
    read('page.js'),
    read('style.css'),
    read('queue.js'),
    read('queue-style.css'),
    read('jobs.js'),
  ]);
  return { script, style, queue: { script: queueScript, style: queueStyle }, jobs: { script: jobsScript } };
}

/** An open ring, in the accent colour of the page. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path d="M16 4a12 12 0 1 0 12 12" fill="none" stroke="#3b6ef5" stroke-width="5" stroke-linecap="round"/><circle cx="24" cy="8" r="4" fill="#3b6ef5"/></svg>';
