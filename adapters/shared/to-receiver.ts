import { createReceiver, type Receiver, type ReceiverOptions } from 'service-webhooks';

/** Every adapter takes a receiver, or the options to make one of. */
export function toReceiver(receiverOrOptions: Receiver | ReceiverOptions): Receiver {
  return typeof receiverOrOptions === 'function' ? receiverOrOptions : createReceiver(receiverOrOptions);
}
