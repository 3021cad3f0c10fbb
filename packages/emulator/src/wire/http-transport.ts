import { lookup } from 'node:dns';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { asSpecified } from 'service-webhooks/testing';
import { kindOfAddress } from './public-url.js';
import { sendRequest } from './send-request.js';
import type { Transport } from './transport.js';

export interface HttpTransportOptions {
  allowLoopback: boolean;
  /** TLS options for receivers on https, such as your own certificate authority. */
  tls?: ConnectionOptions | undefined;
}

/** Well below the time after which Node's servers close an idle connection, so that no request meets a closing one. */
const IDLE_MS = 1_000;

/** Returns the transport over the network, which keeps connections and sends nothing to an address that is not public. */
export function createHttpTransport({ allowLoopback, tls }: HttpTransportOptions): Transport {
  const refuse = createGuard(allowLoopback);
  const connections = { keepAlive: true, timeout: IDLE_MS, lookup: guardedLookup(refuse) };
  const http = new Agent(connections);
  const https = new TlsAgent({ ...tls, ...connections });
  return {
    async send({ url: address, headers, ...wire }, time) {
      const url = new URL(address);
      const name = url.hostname.replace(/[[\]]/g, '');
      const refused = isIP(name) === 0 ? undefined : refuse(name, [name]); // Node looks up names only
      if (refused !== undefined) throw refused;
      const request = { ...wire, method: 'POST', url, headers: asSpecified(headers) };
      return sendRequest(request, time, { agent: url.protocol === 'https:' ? https : http });
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Returns why a name with these addresses is refused; undefined where it is allowed. */
type Guard = (name: string, addresses: readonly string[]) => Error | undefined;

function createGuard(allowLoopback: boolean): Guard {
  const isRefused = (kind: string | undefined) => kind !== undefined && !(kind === 'loopback' && allowLoopback);
  return (name, addresses) => {
    const kind = addresses.map(kindOfAddress).find(isRefused);
    return kind === undefined ? undefined : new Error(`${name} is not public: ${kind}`);
  };
}

/**
 * Returns a lookup that checks each delivery, because a name may resolve differently after the endpoint was created.
 */
function guardedLookup(refuse: Guard): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      callback(error ?? refuse(hostname, addresses) ?? null, found, family);
    });
  };
}
