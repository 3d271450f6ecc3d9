/** Kubernetes' MicroTime. JavaScript knows milliseconds; the API server insists on six digits. */
export function formatMicroTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}
