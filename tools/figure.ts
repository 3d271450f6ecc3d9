/**
 * A figure: one number that `make bench` prints, with its unit and the target that it must meet.
 *
 * `bench/<area>.bench.ts` exports `figures`; their names are `<area>.<figure>`. How to measure is in `measure.ts`.
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
  readonly measure: () => Promise<Measured>
}

/** A number, or why there is none on this machine. */
export type Measured = number | { readonly unavailable: string }

/** `bench cli.help 1.38 x (target <= 2)` */
export function formatFigure({ name, unit, target }: Figure, value: number): string {
  const wanted = target ? `target ${target.op} ${target.value}` : 'no target'
  return `bench ${name} ${formatNumber(value)} ${unit} (${wanted})`
}

export function missesTarget({ target }: Figure, measured: number): boolean {
  if (!target) return false
  // A measurement that went wrong must not pass for a good one.
  if (Number.isNaN(measured)) return true
  return target.op === '<=' ? measured > target.value : measured < target.value
}

/** Three digits are all that a shared machine can promise. */
function formatNumber(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))
}
