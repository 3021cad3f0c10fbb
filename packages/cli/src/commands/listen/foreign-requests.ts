import type { IncomingMessage } from 'node:http';
import type { WebhookResponse } from 'service-webhooks';
import { foreignHeader, type OwnSite } from '../../http/guard.js';
import { type Output, shortened, timeOfDay } from '../../output.js';

/** Refuses the requests that a page in a browser may have sent. */
export interface ForeignRequests {
  /** Returns the answer to a request of another site, and prints the reason; undefined for any other request. */
  refuse(req: IncomingMessage): WebhookResponse | undefined;
}

export interface ForeignRequestsOptions {
  own: OwnSite;
  out: Output;
  now: () => number;
}

interface Foreign {
  status: number;
  code: string;
  message: string;
  hint: string;
}

/** A page can send thousands of requests, and each would be a line. */
const WINDOW_MS = 60_000;

export function createForeignRequests({ own, out, now }: ForeignRequestsOptions): ForeignRequests {
  /** When the last line was printed, and how many were left out since then, by code. */
  const printed = new Map<string, { at: number; leftOut: number }>();

  function print({ code, message, hint }: Foreign, path: string): void {
    const at = now();
    const last = printed.get(code);
    if (last && Math.abs(at - last.at) < WINDOW_MS) {
      last.leftOut += 1;
      return;
    }
    const more = last?.leftOut ?? 0;
    printed.set(code, { at, leftOut: 0 });
    out.record({ kind: 'problem', at: new Date(at).toISOString(), path, code, message, hint, ...(more && { more }) }, [
      ['faint', timeOfDay(at)],
      ['bad', message],
      hint,
      more > 0 && `${more} more since the last such line.`,
    ]);
  }

  return {
    refuse(req) {
      const header = foreignHeader(req, own);
      if (header === undefined) return undefined;
      const foreign = header === 'host' ? foreignHost(req) : foreignOrigin(req);
      print(foreign, shortened(req.url ?? '/'));
      const { status, code, message, hint } = foreign;
      const body = JSON.stringify({ error: { code, message: `${message} ${hint}`, status } });
      return { status, headers: { 'content-type': 'application/json' }, body };
    },
  };
}

function foreignHost({ headers: { host = '' } }: IncomingMessage): Foreign {
  const [, name = 'HOST'] = /^([\w.-]+)(?::\d+)?$/.exec(host) ?? [];
  return {
    status: 421,
    code: 'foreign_host',
    message: `A request was refused: its Host header, ${shortened(host, 100)}, is no address of listen. A page in your browser may have sent it.`,
    hint: `If it is the host of your tunnel, start listen with --allow-host ${shortened(name, 100)}, or with --url.`,
  };
}

function foreignOrigin({ headers }: IncomingMessage): Foreign {
  const { origin, 'sec-fetch-site': site } = headers;
  const says = origin === undefined ? `Sec-Fetch-Site ${site}` : `Origin ${origin}`;
  return {
    status: 403,
    code: 'foreign_origin',
    message: `A request was refused: a page in a browser sent it, with the header ${shortened(says, 100)}.`,
    hint: 'The service sends no such header. To send a delivery, use a program, such as npx service-webhooks-cli send.',
  };
}
