/** Returns whether a status acknowledges a delivery: any 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
