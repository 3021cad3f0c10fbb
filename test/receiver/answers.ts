import type { BegunDelivery, Receiver } from 'service-webhooks';
import { aRequest, type DeliveryParts, inShort } from '../support/deliveries.js';

/** The answer of a receiver to a delivery: `200 handled`. */
export const answerTo = async (receiver: Receiver, parts?: DeliveryParts) => inShort(await receiver(aRequest(parts)));

/** A delivery that `begin` returned to its middleware. */
export const begin = async (receiver: Receiver, parts?: DeliveryParts) =>
  (await receiver.begin(aRequest(parts))) as BegunDelivery;
