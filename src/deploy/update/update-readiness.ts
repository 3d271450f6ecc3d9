/**
 * How far an update is, by the conditions of the OpenStackVersion. Pure.
 *
 * Conditions of an earlier update are still there when the next one begins: they count only once the operator has seen
 * the new target.
 */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, nameOf, numberAt, textAt } from '../../api/raw-object.ts'
import { failed, progressing, type Readiness, ready } from '../../verify/readiness/verdict.ts'

/** In upstream's order: OVN before the rest, the control plane before the hosts. */
const updateSteps = {
  'ovn-control-plane': 'MinorUpdateOVNControlplane',
  'ovn-data-plane': 'MinorUpdateOVNDataplane',
  'control-plane': 'MinorUpdateControlplane',
  'data-plane': 'MinorUpdateDataplane',
} as const

export type UpdateStep = keyof typeof updateSteps

export function stepReadiness(version: KubeObject | undefined, step: UpdateStep, wanted: string): Readiness {
  const early = unseen(version, wanted)
  if (early || !version) return early ?? progressing('the version to be seen')
  // The operator drops the conditions of an update that is over.
  if (textAt(version, 'status', 'deployedVersion') === wanted) return ready
  const type = updateSteps[step]
  const condition = conditionOf(version, type)
  if (condition?.status === 'True') return ready
  if (condition?.status === 'False' && condition.severity === 'Error')
    return failed(`${nameOf(version)}: ${condition.message ?? type}`, describe(version))
  return progressing(`${nameOf(version)}: ${type}${condition?.message ? ` (${condition.message})` : ''}`)
}

export function deployedReadiness(version: KubeObject | undefined, wanted: string): Readiness {
  const early = unseen(version, wanted)
  if (early || !version) return early ?? progressing('the version to be seen')
  const deployed = textAt(version, 'status', 'deployedVersion')
  return deployed === wanted
    ? ready
    : progressing(`${nameOf(version)} to go from ${deployed ?? 'nothing'} to ${wanted}`)
}

function unseen(version: KubeObject | undefined, wanted: string): Readiness | undefined {
  if (!version) return progressing('the OpenStackVersion')
  if (textAt(version, 'spec', 'targetVersion') !== wanted)
    return progressing(`${nameOf(version)} to ask for ${wanted}`)
  const observed = numberAt(version, 'status', 'observedGeneration') ?? 0
  return observed < (version.metadata.generation ?? 0)
    ? progressing(`the operator to see ${nameOf(version)}`)
    : undefined
}

function describe({ metadata }: KubeObject): string {
  return `kubectl -n ${metadata.namespace} describe openstackversion ${metadata.name}`
}
