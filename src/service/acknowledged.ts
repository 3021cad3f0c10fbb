/** Returns whether an answer acknowledges a delivery: any 2xx. */
export function isAcknowledged({ status = 0 }: { readonly status?: number | undefined }): boolean {
  return status >= 200 && status <= 299;
}
