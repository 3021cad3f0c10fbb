/**
 * A property of a request or a response; slower than a dot, but for Express. That gives each of them another prototype,
 * and with it, on Node 20, a shape of its own: a dot would look a property up anew, every time, and remember the place
 * for a shape that never comes again.
 */
export const ask = Reflect.get as <T extends object, Name extends keyof T>(object: T, name: Name) => T[Name];
