/**
 * The graph of stages: whether it makes sense, who comes before whom, and why a stage does not run.
 *
 * Pure.
 */

import { type Finding, finding } from '../errors/finding.ts'
import type { StageOutcome } from './events.ts'
import { duplicateStage, stageCycle, unknownPredecessor } from './findings.ts'
import type { Stage } from './stage.ts'

export type StageById = ReadonlyMap<string, Stage>

export function stagesById(stages: readonly Stage[]): StageById {
  return new Map(stages.map((stage) => [stage.id, stage]))
}

export function validateGraph(stages: readonly Stage[]): readonly Finding[] {
  const known = stagesById(stages)
  const twice = stages.filter((stage, at) => stages.findIndex((one) => one.id === stage.id) !== at)
  const unknown = stages.flatMap((stage) =>
    stage.after
      .filter(({ id }) => !known.has(id))
      .map(({ id }) => finding(unknownPredecessor, { stage: stage.id, predecessor: id })),
  )
  const cycle = findCycle(stages, known)
  return [
    ...twice.map(({ id }) => finding(duplicateStage, { stage: id })),
    ...unknown,
    ...(cycle ? [finding(stageCycle, { path: cycle })] : []),
  ]
}

/** One cycle, as the path that comes back to its start. */
function findCycle(stages: readonly Stage[], known: StageById): readonly string[] | undefined {
  const finished = new Set<string>()
  const path: string[] = []
  const visit = (id: string): readonly string[] | undefined => {
    if (finished.has(id)) return undefined
    const seenAt = path.indexOf(id)
    if (seenAt >= 0) return [...path.slice(seenAt), id]
    path.push(id)
    for (const next of known.get(id)?.after ?? []) {
      const cycle = visit(next.id)
      if (cycle) return cycle
    }
    path.pop()
    finished.add(id)
    return undefined
  }
  for (const { id } of stages) {
    const cycle = visit(id)
    if (cycle) return cycle
  }
  return undefined
}

/** Everything that must be over before one of these begins, themselves included. */
export function withPredecessors(ids: Iterable<string>, stages: readonly Stage[]): ReadonlySet<string> {
  const known = stagesById(stages)
  return reach(ids, (id) => known.get(id)?.after.map((after) => after.id) ?? [])
}

/** Everything that waits for one of these, themselves included. */
export function withSuccessors(ids: Iterable<string>, stages: readonly Stage[]): ReadonlySet<string> {
  const successors = new Map<string, string[]>()
  for (const stage of stages) {
    for (const { id } of stage.after) successors.set(id, [...(successors.get(id) ?? []), stage.id])
  }
  return reach(ids, (id) => successors.get(id) ?? [])
}

function reach(ids: Iterable<string>, next: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue
    found.add(id)
    open.push(...next(id))
  }
  return found
}

/** How stages ended so far; a skipped one counts as done. */
export type Outcomes = ReadonlyMap<string, StageOutcome>

export interface Block {
  /** The stage in the way. */
  readonly by: string
  /** The failed stage that started it all. */
  readonly root: string
  readonly reason: string
}

/** Why a stage can never run any more, or undefined while it still can. */
export function findBlock(stage: Stage, outcomes: Outcomes, known: StageById): Block | undefined {
  for (const { id, why } of stage.after) {
    const outcome = outcomes.get(id)
    if (outcome === 'failed') return { by: id, root: id, reason: `needs ${id}, which failed (${why})` }
    const before = known.get(id)
    if (outcome !== 'blocked' || !before) continue
    const root = findBlock(before, outcomes, known)?.root ?? id
    return { by: id, root, reason: `needs ${id}, which is blocked by ${root} (${why})` }
  }
  return undefined
}

/** What a stage that has not begun waits for: predecessors first, then whoever holds one of its locks. */
export function pendingReason(stage: Stage, outcomes: Outcomes, running: readonly Stage[]): string | undefined {
  const before = stage.after.find(({ id }) => outcomes.get(id) !== 'done')
  if (before) return `after ${before.id}: ${before.why}`
  const holder = running.find((one) => one.locks.some((lock) => stage.locks.includes(lock)))
  if (!holder) return undefined
  const lock = holder.locks.find((lock) => stage.locks.includes(lock))
  return `after ${holder.id}: ${lock} is for one stage at a time`
}
