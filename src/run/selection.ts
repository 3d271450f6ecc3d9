/**
 * Which stages of a run are wanted: `--cloud`, `--stage`, `--from`, `--until`, `--skip`, as a pure function.
 *
 * A stage is named by its name (all clouds) or by its id (`rhoso1/netattach`). Order survives selection: what lay
 * on the way between two chosen stages still orders them.
 */

import { closestMatch } from '../errors/closest-match.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { nothingSelected, unknownCloud, unknownStage } from './findings.ts'
import { stagesById, withPredecessors, withSuccessors } from './graph.ts'
import type { Stage, StageDependency } from './stage.ts'

/** An empty list means no wish. Several options narrow each other. */
export interface Selection {
  readonly clouds?: readonly string[]
  readonly stages?: readonly string[]
  readonly from?: readonly string[]
  readonly until?: readonly string[]
  readonly skip?: readonly string[]
}

export interface SelectionResult {
  readonly stages: readonly Stage[]
  readonly findings: readonly Finding[]
}

export function selectStages(stages: readonly Stage[], selection: Selection): SelectionResult {
  const findings = unknownNames(stages, selection)
  const kept = new Set(stages.filter(wantedBy(stages, selection)).map(({ id }) => id))
  if (findings.length === 0 && kept.size === 0) findings.push(finding(nothingSelected, {}))
  return { stages: findings.length > 0 ? [] : narrowTo(stages, kept), findings }
}

function wantedBy(stages: readonly Stage[], selection: Selection): (stage: Stage) => boolean {
  const { clouds = [], stages: only = [], from = [], until = [], skip = [] } = selection
  const upTo = withPredecessors(idsOf(stages, until), stages)
  const onFrom = withSuccessors(idsOf(stages, from), stages)
  return (stage) =>
    (clouds.length === 0 || stage.cloud === undefined || clouds.includes(stage.cloud)) &&
    (only.length === 0 || only.some((name) => isCalled(stage, name))) &&
    (until.length === 0 || upTo.has(stage.id)) &&
    (from.length === 0 || onFrom.has(stage.id)) &&
    !skip.some((name) => isCalled(stage, name))
}

function isCalled(stage: Stage, name: string): boolean {
  return stage.name === name || stage.id === name
}

function idsOf(stages: readonly Stage[], names: readonly string[]): readonly string[] {
  return stages.filter((stage) => names.some((name) => isCalled(stage, name))).map(({ id }) => id)
}

function unknownNames(stages: readonly Stage[], selection: Selection): Finding[] {
  const { clouds = [], stages: only = [], from = [], until = [], skip = [] } = selection
  const knownClouds = [...new Set(stages.flatMap(({ cloud }) => (cloud === undefined ? [] : [cloud])))]
  const knownStages = [...new Set(stages.map(({ name }) => name))]
  const wrongClouds = clouds.filter((cloud) => !knownClouds.includes(cloud))
  const wrongStages = [...only, ...from, ...until, ...skip].filter(
    (name) => !stages.some((stage) => isCalled(stage, name)),
  )
  return [
    ...wrongClouds.map((cloud) =>
      finding(unknownCloud, { cloud, known: knownClouds, nearest: closestMatch(cloud, knownClouds) }),
    ),
    ...wrongStages.map((stage) => {
      const words = stage.includes('/') ? stages.map(({ id }) => id) : knownStages
      return finding(unknownStage, { stage, known: knownStages, nearest: closestMatch(stage, words) })
    }),
  ]
}

/** The kept stages, ordered through those that are left out. */
function narrowTo(stages: readonly Stage[], kept: ReadonlySet<string>): readonly Stage[] {
  const known = stagesById(stages)
  const bridged = new Map<string, readonly StageDependency[]>()
  const bridge = (id: string): readonly StageDependency[] => {
    const found = bridged.get(id)
    if (found) return found
    const after = (known.get(id)?.after ?? []).flatMap((after) => (kept.has(after.id) ? [after] : bridge(after.id)))
    const unique = after.filter((one, at) => after.findIndex((other) => other.id === one.id) === at)
    bridged.set(id, unique)
    return unique
  }
  return stages.filter(({ id }) => kept.has(id)).map((stage) => ({ ...stage, after: bridge(stage.id) }))
}
