// Next would otherwise take that of the example, which is above this app.
export function register() {}
