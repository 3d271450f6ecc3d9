/** Formats tables that fit the terminal: the last column is cut with an ellipsis. */
import pc from 'picocolors'

export type Row = readonly string[]

// oxlint-disable-next-line no-control-regex -- colour codes take no space on the screen
const COLOUR = /\u001b\[[0-9;]*m/g

export function visibleWidth(text: string): number {
  return text.replace(COLOUR, '').length
}

/** With `colour` the header is bold; cells may have colours of their own. */
export function formatTable(header: Row, rows: readonly Row[], columns: number, colour: boolean): string {
  const { bold } = pc.createColors(colour)
  const all = [header.map(bold), ...rows].map((row) => row.map(joinLines))
  const widths = header.map((_, column) =>
    all.reduce((width, row) => Math.max(width, visibleWidth(row[column] ?? '')), 0),
  )
  return all.map((row) => `${formatRow(row, widths, columns)}\n`).join('')
}

/** A line break in a cell would begin a row that looks like one of ours. */
function joinLines(cell: string): string {
  return cell.replaceAll(/[\r\n\t]+/g, ' ')
}

function formatRow(row: Row, widths: readonly number[], columns: number): string {
  const cells = row.map((cell, column) => {
    const isLast = column === row.length - 1
    return isLast ? cell : cell + ' '.repeat((widths[column] ?? 0) - visibleWidth(cell))
  })
  return cut(cells.join('  '), columns)
}

function cut(line: string, columns: number): string {
  const trimmed = line.trimEnd()
  if (visibleWidth(trimmed) <= columns) return trimmed
  return `${trimmed.replace(COLOUR, '').slice(0, columns - 1)}…`
}
