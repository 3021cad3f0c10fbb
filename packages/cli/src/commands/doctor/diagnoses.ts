import type { RefusalCause } from '../../diagnosis/advice.js';

/** What to do about an endpoint that acknowledges, and whose answers or effects prove a fault. */
export const DIAGNOSES = {
  handled_twice:
    'Likely cause: the receiver is created inside the route handler, so that every request gets a new one that remembers nothing, or it has dedupe: false. Create the receiver once, when the app starts, and leave dedupe out. If several processes serve this URL, give all of them the same store: dedupe: { store, name }. If the handler itself makes a second run harmless, as an inbox does, show it with doctor --observer.',
  queued_twice:
    'Likely cause: this queue does not recognise duplicates, and the receiver has no dedupe. Pass dedupe: { store, name } to the receiver. If the worker itself makes a second run harmless, as an inbox does, show it with doctor --observer.',
  counted_twice:
    'Remember the id of each event in a store that all processes share: claim it before the work begins, and answer 200 to a retry. With this library: create the receiver once, when the app starts, and not inside the route handler. Leave dedupe out, or pass dedupe: { store, name } where several processes serve this URL or the queue recognises no duplicates. If the observer also counts other deliveries, let it count those of $WEBHOOK_EVENT_ID alone.',
  no_effect:
    'The service does not send an acknowledged delivery again, so its effect is lost. Check in the log of the app whether a handler ran: doctor --type sends another event type, and --observer-wait waits longer. Then check that the observer counts what this handler does.',
  no_handler:
    "The app has no handler for this event type. Add one or '*' to on, or name a type that it handles with doctor --type.",
} as const;

/** A name in {@link DIAGNOSES}. */
export type OwnDiagnosis = keyof typeof DIAGNOSES;

/** What is wrong with an endpoint: a name in {@link DIAGNOSES}, or why it refuses a valid delivery. */
export type Diagnosis = OwnDiagnosis | RefusalCause;

/** Returns whether {@link DIAGNOSES} has it. */
export function isOwnDiagnosis(diagnosis: Diagnosis): diagnosis is OwnDiagnosis {
  return Object.hasOwn(DIAGNOSES, diagnosis);
}
