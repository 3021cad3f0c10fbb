import { type Context, context, INVALID_SPAN_CONTEXT, type Span, trace } from '@opentelemetry/api';

/** Runs a call whose failure must not become a failure of the delivery. */
export function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Runs a step once, in the context where there is one that can be entered. */
export function runInContext<T>(inside: Context | undefined, step: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined;
  if (inside) {
    attempt(() =>
      context.with(inside, () => {
        running = step();
      }),
    );
  }
  return running ?? step();
}

/** Replaces a span that could not be started, and records nothing. */
export const NO_SPAN: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
