/**
 * How often a test repeats: enough to catch a break in `make test`, all of it in `make soak`.
 */

export function count(settings: { readonly test: number; readonly soak: number }): number {
  return process.env['STACKLOOM_SOAK'] ? settings.soak : settings.test
}
