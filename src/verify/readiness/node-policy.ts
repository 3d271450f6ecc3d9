/**
 * Readiness of node policies, from the enactments of the current generation: the conditions of a policy have no generation. A
 * failed enactment is final, because nmstate rolls the node back and does not retry.
 */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getField, getNumber } from '../../api/raw-object.ts'
import {
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
  worst,
} from './verdict.ts'

export const ENACTMENT = 'nmstate.io/NodeNetworkConfigurationEnactment'

export const policyReadiness: ReadinessRule = (policy, context) => {
  const unread = context.around.unread(ENACTMENT)
  if (unread !== undefined)
    return progressing(`the enactments of ${formatObjectName(policy)}, which cannot be read: ${unread}`)
  const nodes = selectedNodes(policy, context)
  if (nodes.length === 0)
    return failed(
      `no node matches the selector of ${formatObjectName(policy)}`,
      `kubectl get nodes --show-labels; kubectl get nncp ${policy.metadata.name} -o yaml`,
    )
  return worst(nodes.map((node) => nodeReadiness(policy, node, context)))
}

function nodeReadiness(policy: KubeObject, node: string, { around }: ReadinessContext): Readiness {
  const name = `${node}.${policy.metadata.name}`
  const enactment = around.get(ENACTMENT, name)
  const generation = policy.metadata.generation ?? 0
  if (!enactment || (getNumber(enactment, 'status', 'policyGeneration') ?? -1) < generation)
    return progressing(`node ${node} to apply generation ${generation} of ${policy.metadata.name}`)
  const is = (type: string): boolean => findCondition(enactment, type)?.status === 'True'
  const message = (type: string): string => findCondition(enactment, type)?.message ?? 'no message'
  const next = `kubectl get nnce ${name} -o yaml`
  // nmstate sets both conditions while it retries.
  if (is('Failing') && is('Progressing')) return progressing(`node ${node}, which retries: ${message('Failing')}`)
  if (is('Failing')) return failed(`node ${node} failed to apply ${policy.metadata.name}: ${message('Failing')}`, next)
  if (is('Aborted')) return failed(`node ${node} aborted ${policy.metadata.name}: ${message('Aborted')}`, next)
  if (is('Available')) return ready
  return progressing(
    `node ${node} to configure ${policy.metadata.name}${is('Pending') ? ' (waiting for other nodes)' : ''}`,
  )
}

/** Nodes that the policy selects. */
export function selectedNodes(policy: KubeObject, { around }: ReadinessContext): readonly string[] {
  const selector = Object.entries((getField(policy, 'spec', 'nodeSelector') ?? {}) as Record<string, string>)
  return around
    .all('Node')
    .filter(({ metadata }) =>
      selector.every(
        ([key, value]) =>
          metadata.labels?.[key] === value ||
          (key === 'kubernetes.io/hostname' && metadata.labels?.[key] === undefined && metadata.name === value),
      ),
    )
    .map(({ metadata }) => metadata.name)
}
