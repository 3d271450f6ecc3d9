/**
 * Selects the stages of a run of `up` or `lab up`: `--cloud`, `--stage`, `--from-stage`, `--until`, `--skip`. Pure.
 *
 * A stage is selected by its name (of all clouds) or by its id (`rhoso1/netattach`). Stages that are left out still order
 * the selected ones.
 */

import { closestMatch } from '../errors/closest-match.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { nothingSelected, unknownCloud, unknownStage } from './findings.ts'
import { stagesById, withPredecessors, withSuccessors } from './graph.ts'
import type { Stage, StageDependency } from './stage.ts'

/** An empty list selects everything. Several options narrow each other. */
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
  const kept = new Set(stages.filter(selectedBy(stages, selection)).map(({ id }) => id))
  if (findings.length === 0 && kept.size === 0) findings.push(finding(nothingSelected, {}))
  return { stages: findings.length > 0 ? [] : keepStages(stages, kept), findings }
}

function selectedBy(stages: readonly Stage[], selection: Selection): (stage: Stage) => boolean {
  const { clouds = [], stages: only = [], from = [], until = [], skip = [] } = selection
  const beforeUntil = withPredecessors(stageIds(stages, until), stages)
  const afterFrom = withSuccessors(stageIds(stages, from), stages)
  return (stage) =>
    (clouds.length === 0 || stage.cloud === undefined || clouds.includes(stage.cloud)) &&
    (only.length === 0 || only.some((name) => matchesName(stage, name))) &&
    (until.length === 0 || beforeUntil.has(stage.id)) &&
    (from.length === 0 || afterFrom.has(stage.id)) &&
    !skip.some((name) => matchesName(stage, name))
}

function matchesName(stage: Stage, name: string): boolean {
  return stage.name === name || stage.id === name
}

function stageIds(stages: readonly Stage[], names: readonly string[]): readonly string[] {
  return stages.filter((stage) => names.some((name) => matchesName(stage, name))).map(({ id }) => id)
}

function unknownNames(stages: readonly Stage[], selection: Selection): Finding[] {
  const { clouds = [], stages: only = [], from = [], until = [], skip = [] } = selection
  const knownClouds = [...new Set(stages.flatMap(({ cloud }) => (cloud === undefined ? [] : [cloud])))]
  const knownStages = [...new Set(stages.map(({ name }) => name))]
  const wrongClouds = clouds.filter((cloud) => !knownClouds.includes(cloud))
  const wrongStages = [...only, ...from, ...until, ...skip].filter(
    (name) => !stages.some((stage) => matchesName(stage, name)),
  )
  return [
    ...wrongClouds.map((cloud) =>
      finding(unknownCloud, { cloud, known: knownClouds, nearest: closestMatch(cloud, knownClouds) }),
    ),
    ...wrongStages.map((stage) => {
      const candidates = stage.includes('/') ? stages.map(({ id }) => id) : knownStages
      return finding(unknownStage, { stage, known: knownStages, nearest: closestMatch(stage, candidates) })
    }),
  ]
}

/** The kept stages, with their dependencies through stages that are left out. */
function keepStages(stages: readonly Stage[], kept: ReadonlySet<string>): readonly Stage[] {
  const known = stagesById(stages)
  const cachedDependencies = new Map<string, readonly StageDependency[]>()
  const keptDependencies = (id: string): readonly StageDependency[] => {
    const found = cachedDependencies.get(id)
    if (found) return found
    const after = (known.get(id)?.after ?? []).flatMap((after) =>
      kept.has(after.id) ? [after] : keptDependencies(after.id),
    )
    const unique = after.filter((dependency, index) => after.findIndex((other) => other.id === dependency.id) === index)
    cachedDependencies.set(id, unique)
    return unique
  }
  return stages.filter(({ id }) => kept.has(id)).map((stage) => ({ ...stage, after: keptDependencies(stage.id) }))
}
