/** Kubernetes quantities: `500m`, `16Gi`, `10G`. */

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/** The number behind a quantity, or undefined for what is none. */
export function parseQuantity(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const [, number, unit = ''] = /^([0-9.]+(?:e[0-9]+)?)([a-zA-Z]{0,2})$/.exec(String(value)) ?? []
  const factor = UNITS[unit]
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

export function formatGibibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 30)} GiB`
}
