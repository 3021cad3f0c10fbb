// Next compiles this file for its Edge Runtime too, which has no process.exit.
// So only Node loads the check.
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    await import('./instrumentation-node');
  }
}
