/** Runs a call in a process whose clock is set to another time. */
export async function withClock<T>(offsetMs: number, call: () => Promise<T>): Promise<T> {
  const real = globalThis.Date;
  const now = () => real.now() + offsetMs;
  globalThis.Date = new Proxy(real, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  try {
    return await call();
  } finally {
    globalThis.Date = real;
  }
}
