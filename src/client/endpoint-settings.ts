import { check, checkObject } from '../check.js';
import type { EventType } from '../event.js';

/** Where deliveries go, and of what. */
export interface EndpointSettings {
  /** A public `https://` address; the service refuses any other. */
  url: string;
  /** Types of events; those of a later version of the service may be named too. */
  events: readonly (EventType | (string & {}))[];
}

/** @throws WebhookError `invalid_option` */
export function checkEndpoint(endpoint: EndpointSettings): EndpointSettings {
  checkObject('endpoint', endpoint);
  const { url, events } = endpoint;
  checkUrl(url);
  checkEvents(events);
  return { url, events };
}

/** One of both is enough. @throws WebhookError `invalid_option` */
export function checkChanges(changes: Partial<EndpointSettings>): object {
  checkObject('changes', changes);
  const { url, events } = changes;
  check(url !== undefined || events !== undefined, 'url or events must be given');
  if (url !== undefined) checkUrl(url);
  if (events !== undefined) checkEvents(events);
  return { url, events }; // JSON leaves out what is undefined
}

function checkUrl(url: unknown): void {
  check(typeof url === 'string' && URL.canParse(url), 'url must be a URL');
}

function checkEvents(events: unknown): void {
  const areTypes = Array.isArray(events) && events.length > 0 && events.every((type) => typeof type === 'string');
  check(areTypes, 'events must be types of events, at least one');
}
