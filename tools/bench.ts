/**
 * `make bench`: measures every figure and prints it on one line.
 *
 *     node --import tsx tools/bench.ts [PREFIX]     such as `cli` or `plan.clouds`
 *
 * Exits 1 when a target is missed or a measurement fails, 2 when the prefix selects nothing.
 */
import { availableParallelism, loadavg } from 'node:os'
import { pathToFileURL } from 'node:url'
import { formatError } from '../src/errors/failure.ts'
import { type Figure, formatFigure, missesTarget } from './figure.ts'
import { filesBelow } from './files.ts'

const BENCH_FILE = /^bench\/([a-z0-9-]+)\.bench\.ts$/

interface Area {
  readonly name: string
  readonly file: string
}

/** The areas that can have figures with this prefix; the files of other areas are not loaded. */
export function selectAreas(files: readonly string[], prefix: string): readonly Area[] {
  const areas = files.flatMap((file) => {
    const name = BENCH_FILE.exec(file)?.[1]
    return name ? [{ name, file }] : []
  })
  return areas.filter(({ name }) => `${name}.`.startsWith(prefix) || prefix.startsWith(`${name}.`))
}

/** A figure whose name does not begin with its area could not be selected by prefix. */
export function misnamedFigures(area: string, figures: readonly Figure[]): readonly string[] {
  return figures.map((figure) => figure.name).filter((name) => !name.startsWith(`${area}.`) || /\s/.test(name))
}

async function load({ name, file }: Area): Promise<readonly Figure[]> {
  const { figures } = (await import(pathToFileURL(file).href)) as { figures: readonly Figure[] }
  const misnamed = misnamedFigures(name, figures)
  if (misnamed.length) throw new Error(`${file}: figures must be named ${name}.<figure>: ${misnamed.join(', ')}`)
  return figures
}

async function main(prefix: string): Promise<number> {
  const areas = selectAreas(filesBelow('.', 'bench'), prefix)
  const figures = (await Promise.all(areas.map(load))).flat().filter((figure) => figure.name.startsWith(prefix))
  if (figures.length === 0) {
    console.error(`bench: no figure begins with ${prefix}`)
    return 2
  }
  const load1 = (loadavg()[0] ?? 0).toFixed(1)
  console.error(`# node ${process.version}, ${availableParallelism()} cores, load ${load1} before`)
  let exitCode = 0
  // One at a time: figures that run in parallel disturb each other.
  const selected = figures.map(({ name }) => name)
  for (const figure of figures) exitCode = Math.max(exitCode, await measureAndPrint(figure, selected))
  return exitCode
}

/** Prints the figure on stdout and everything else on stderr; returns the exit code. */
async function measureAndPrint(figure: Figure, selected: readonly string[]): Promise<number> {
  try {
    const measured = await figure.measure(selected)
    if (typeof measured !== 'number') {
      console.error(`# ${figure.name} is not measured here: ${measured.unavailable}`)
      return 0
    }
    console.log(formatFigure(figure, measured))
    if (!missesTarget(figure, measured)) return 0
    console.error(`# ${figure.name} misses its target`)
  } catch (thrown) {
    console.error(`# ${figure.name} failed: ${formatError(thrown)}`)
  }
  return 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = await main(process.argv[2] ?? process.env['ONLY'] ?? '')
}
