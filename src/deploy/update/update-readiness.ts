/**
 * How far an update is, by the conditions of the OpenStackVersion. Pure.
 *
 * Conditions of an earlier update are still there when the next one begins: they count only once the operator has seen
 * the new target.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getNumber, getString } from '../../api/raw-object.ts'
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
  if (getString(version, 'status', 'deployedVersion') === wanted) return ready
  const type = updateSteps[step]
  const condition = findCondition(version, type)
  if (condition?.status === 'True') return ready
  if (condition?.status === 'False' && condition.severity === 'Error')
    return failed(`${formatObjectName(version)}: ${condition.message ?? type}`, describe(version))
  return progressing(`${formatObjectName(version)}: ${type}${condition?.message ? ` (${condition.message})` : ''}`)
}

export function deployedReadiness(version: KubeObject | undefined, wanted: string): Readiness {
  const early = unseen(version, wanted)
  if (early || !version) return early ?? progressing('the version to be seen')
  const deployed = getString(version, 'status', 'deployedVersion')
  return deployed === wanted
    ? ready
    : progressing(`${formatObjectName(version)} to go from ${deployed ?? 'nothing'} to ${wanted}`)
}

function unseen(version: KubeObject | undefined, wanted: string): Readiness | undefined {
  if (!version) return progressing('the OpenStackVersion')
  if (getString(version, 'spec', 'targetVersion') !== wanted)
    return progressing(`${formatObjectName(version)} to ask for ${wanted}`)
  const observed = getNumber(version, 'status', 'observedGeneration') ?? 0
  return observed < (version.metadata.generation ?? 0)
    ? progressing(`the operator to see ${formatObjectName(version)}`)
    : undefined
}

function describe({ metadata }: KubeObject): string {
  return `kubectl -n ${metadata.namespace} describe openstackversion ${metadata.name}`
}
