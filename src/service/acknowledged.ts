/**
 * Returns whether an answer acknowledges a delivery: any status from 200 to 299.
 *
 * @example
 * const acknowledged = isAcknowledged(await fetch(request));
 */
export function isAcknowledged({ status = 0 }: { readonly status?: number | undefined }): boolean {
  return status >= 200 && status <= 299;
}
