/** Formats a rehearsal: the matrix as a table, and the report as HTML and Markdown. Pure. */
import type { Plan } from '../../plan/plan.ts'
import { drawTopology } from '../../plan/topology.ts'
import type { Rehearsal } from '../../rehearse/rehearse.ts'
import { isAsPlanned, type MatrixCell } from '../../verify/probe/reach-matrix.ts'
import { htmlReport } from '../../verify/report/html-report.ts'
import { markdownReport, type Report } from '../../verify/report/report.ts'

export interface MatrixTable {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** One row per network, one column per cloud. `mark` may colour a cell. */
export function matrixTable(
  { matrix, clouds }: Pick<Rehearsal, 'matrix' | 'clouds'>,
  mark: (text: string, cell: MatrixCell) => string = (text) => text,
): MatrixTable {
  const senders = [...new Set(matrix.map(({ from }) => from))]
  const format = (from: string, to: string): string => {
    const cell = matrix.find((candidate) => candidate.from === from && candidate.to === to)
    if (!cell) return ''
    return mark(`${isAsPlanned(cell) ? '✓' : '✗'} ${cell.answered} of ${cell.tests} answered`, cell)
  }
  return {
    header: ['from', ...clouds.map((cloud) => `to ${cloud}`)],
    rows: senders.map((from) => [from, ...clouds.map((to) => format(from, to))]),
  }
}

export interface ReportFile {
  readonly name: string
  readonly text: string
}

const PICTURE = 'topology.svg'

export function reportFiles(plan: Plan, time: string, rehearsal: Rehearsal): readonly ReportFile[] {
  const picture = drawTopology(plan)
  const report: Report = {
    site: plan.site,
    time,
    source: describeSource(rehearsal),
    results: rehearsal.results,
    tables: [
      { title: 'Matrix', ...matrixTable(rehearsal) },
      {
        title: 'Times',
        header: ['part', 'seconds'],
        rows: rehearsal.phases.map(({ name, seconds }) => [name, String(seconds)]),
      },
    ],
    picture: { svg: picture, file: PICTURE },
  }
  return [
    { name: 'report.html', text: htmlReport(report) },
    { name: 'report.md', text: markdownReport(report) },
    { name: PICTURE, text: picture },
  ]
}

/** A report of a fault must not be taken for one of the site. */
function describeSource({ nodes, fault }: Pick<Rehearsal, 'nodes' | 'fault'>): string {
  const source = `rehearsal with ${nodes.join(', ')} as virtual machines`
  return fault === undefined ? source : `${source} and a built-in fault (${fault})`
}
