/**
 * Number of repetitions of a test: few in `make test`, many in `make soak`.
 */

export function count(settings: { readonly test: number; readonly soak: number }): number {
  return process.env['STACKLOOM_SOAK'] ? settings.soak : settings.test
}
