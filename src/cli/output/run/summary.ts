/** Formats the report of a run: outcome, time and reason of each stage, and the totals. */
import pc from 'picocolors'
import type { RunReport, StageReport } from '../../../run/engine.ts'
import { formatTable } from '../table.ts'
import { formatDuration, oneLine } from '../text.ts'

export function formatSummary(report: RunReport, io: { columns: number; colour: boolean }): string {
  const { green, red, yellow, bold, dim } = pc.createColors(io.colour)
  const paint = { done: green, failed: red, stopped: yellow }[report.outcome]
  const paintStage = { done: green, skipped: dim, failed: red, blocked: yellow, stopped: yellow }
  const rows = report.stages.map((stage) => [
    stage.cloud ?? '-',
    stage.name,
    paintStage[stage.outcome](stage.outcome),
    stage.ms === 0 || stage.outcome === 'skipped' ? '' : formatDuration(stage.ms),
    stage.reason === undefined ? '' : oneLine(stage.reason),
  ])
  const table = formatTable(['CLOUD', 'STAGE', 'OUTCOME', 'TIME', 'REASON'], rows, io.columns, io.colour)
  return `${table}\n${bold(paint(report.outcome))} after ${formatDuration(report.ms)}: ${formatTotals(report.stages)}\n`
}

/** `6 done, 2 skipped`, without zeros. */
function formatTotals(stages: readonly StageReport[]): string {
  return (['done', 'skipped', 'failed', 'blocked', 'stopped'] as const)
    .map((outcome) => ({ outcome, count: stages.filter((stage) => stage.outcome === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ outcome, count }) => `${count} ${outcome}`)
    .join(', ')
}
