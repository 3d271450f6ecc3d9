/**
 * Checks the graph of stages and answers questions about its order.
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
  const byId = stagesById(stages)
  const duplicates = stages.filter((stage, index) => stages.findIndex((other) => other.id === stage.id) !== index)
  const unknown = stages.flatMap((stage) =>
    stage.after
      .filter(({ id }) => !byId.has(id))
      .map(({ id }) => finding(unknownPredecessor, { stage: stage.id, predecessor: id })),
  )
  const cycle = findCycle(stages, byId)
  return [
    ...duplicates.map(({ id }) => finding(duplicateStage, { stage: id })),
    ...unknown,
    ...(cycle ? [finding(stageCycle, { path: cycle })] : []),
  ]
}

/** One cycle, as a path that returns to its start. */
function findCycle(stages: readonly Stage[], byId: StageById): readonly string[] | undefined {
  const finished = new Set<string>()
  const path: string[] = []
  const visit = (id: string): readonly string[] | undefined => {
    if (finished.has(id)) return undefined
    const seenAt = path.indexOf(id)
    if (seenAt >= 0) return [...path.slice(seenAt), id]
    path.push(id)
    for (const next of byId.get(id)?.after ?? []) {
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

/** All stages that must finish before one of these starts, including these. */
export function withPredecessors(ids: Iterable<string>, stages: readonly Stage[]): ReadonlySet<string> {
  const byId = stagesById(stages)
  return collectReachable(ids, (id) => byId.get(id)?.after.map((after) => after.id) ?? [])
}

/** All stages that depend on one of these, including these. */
export function withSuccessors(ids: Iterable<string>, stages: readonly Stage[]): ReadonlySet<string> {
  const successors = new Map<string, string[]>()
  for (const stage of stages) {
    for (const { id } of stage.after) successors.set(id, [...(successors.get(id) ?? []), stage.id])
  }
  return collectReachable(ids, (id) => successors.get(id) ?? [])
}

function collectReachable(ids: Iterable<string>, next: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...ids]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue
    found.add(id)
    open.push(...next(id))
  }
  return found
}

/** The outcomes of stages so far; a skipped one counts as done. */
export type Outcomes = ReadonlyMap<string, StageOutcome>

export interface Block {
  /** The stage that blocks it. */
  readonly by: string
  /** The failed stage at the root. */
  readonly root: string
  readonly reason: string
}

/** Why a stage can never run, or undefined while it still can. */
export function findBlock(stage: Stage, outcomes: Outcomes, byId: StageById): Block | undefined {
  for (const { id, why } of stage.after) {
    const outcome = outcomes.get(id)
    if (outcome === 'failed') return { by: id, root: id, reason: `needs ${id}, which failed (${why})` }
    const before = byId.get(id)
    if (outcome !== 'blocked' || !before) continue
    const root = findBlock(before, outcomes, byId)?.root ?? id
    return { by: id, root, reason: `needs ${id}, which is blocked by ${root} (${why})` }
  }
  return undefined
}

/** Why a stage has not started: first its dependencies, then the stage that holds one of its locks. */
export function pendingReason(stage: Stage, outcomes: Outcomes, running: readonly Stage[]): string | undefined {
  const before = stage.after.find(({ id }) => outcomes.get(id) !== 'done')
  if (before) return `after ${before.id}: ${before.why}`
  const holder = running.find((other) => other.locks.some((lock) => stage.locks.includes(lock)))
  if (!holder) return undefined
  const lock = holder.locks.find((lock) => stage.locks.includes(lock))
  return `after ${holder.id}: ${lock} is for one stage at a time`
}
