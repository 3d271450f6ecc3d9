/**
 * Defines a figure: a number that `make bench` prints, with its unit and target.
 *
 * `bench/<area>.bench.ts` exports `figures`, named `<area>.<figure>`. `measure.ts` has the ways to measure.
 */

export interface Target {
  readonly op: '<=' | '>='
  readonly value: number
}

export interface Figure {
  /** `<area>.<figure>`, such as `cli.help`. */
  readonly name: string
  /** `x` for a ratio against the alternative, otherwise `ms`, `MiB`, `requests`, … */
  readonly unit: string
  readonly target?: Target
  /** `selected`: the names of all figures that this run measures. */
  readonly measure: (selected: readonly string[]) => Promise<Measured>
}

/** A number, or the reason why it cannot be measured on this machine. */
export type Measured = number | { readonly unavailable: string }

/** `bench cli.help 1.38 x (target <= 2)` */
export function formatFigure({ name, unit, target }: Figure, value: number): string {
  const goal = target ? `target ${target.op} ${target.value}` : 'no target'
  return `bench ${name} ${formatNumber(value)} ${unit} (${goal})`
}

export function missesTarget({ target }: Figure, measured: number): boolean {
  if (!target) return false
  // A failed measurement must not pass.
  if (Number.isNaN(measured)) return true
  return target.op === '<=' ? measured > target.value : measured < target.value
}

/** Three digits: a shared machine measures no more exactly. */
function formatNumber(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}
