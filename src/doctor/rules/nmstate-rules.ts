/** Problems of node networking: policies that failed, are outdated, or overwrite each other. */

import { groupBy } from '../../api/collections.ts'
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getField, getList, getNumber, getString } from '../../api/raw-object.ts'
import { ENACTMENT, selectedNodes } from '../../verify/readiness/node-policy.ts'
import type { ClusterState } from '../cluster-state.ts'
import { NAD, podSpans } from '../facts/attachments.ts'
import { desiredInterfaces, interfacesByNode, POLICY, STATE } from '../facts/interfaces.ts'
import { extractNmstateError } from '../facts/nmstate-error.ts'
import * as problems from '../findings/nmstate-findings.ts'
import { type Rule, rule } from '../rule.ts'

interface PolicyOnNode {
  readonly policy: KubeObject
  readonly node: string
  readonly enactment: KubeObject | undefined
  readonly generation: number
  readonly has: number | undefined
}

/** Every policy on every selected node. */
function policiesOnNodes(cluster: ClusterState): readonly PolicyOnNode[] {
  return cluster.all(POLICY).flatMap((policy) =>
    selectedNodes(policy, cluster.context).map((node) => {
      const enactment = cluster.get(ENACTMENT, `${node}.${policy.metadata.name}`)
      return {
        policy,
        node,
        enactment,
        generation: policy.metadata.generation ?? 0,
        has: enactment && getNumber(enactment, 'status', 'policyGeneration'),
      }
    }),
  )
}

/** Enactments of the current generation with this condition, except those that are still retrying. */
function enactmentsWithCondition(
  cluster: ClusterState,
  type: string,
): readonly (PolicyOnNode & { readonly enactment: KubeObject; readonly message: string })[] {
  return cluster.derive(policiesOnNodes).flatMap((onNode) => {
    const { enactment, has, generation } = onNode
    if (!enactment || (has ?? -1) < generation) return []
    const condition = findCondition(enactment, type)
    if (condition?.status !== 'True' || findCondition(enactment, 'Progressing')?.status === 'True') return []
    return [{ ...onNode, enactment, message: condition.message ?? condition.reason ?? '' }]
  })
}

const policyFailed = rule({
  id: 'nmstate/policy-failed',
  problem: problems.policyFailed,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  match: (cluster) =>
    enactmentsWithCondition(cluster, 'Failing').map(({ policy, node, enactment, message }) => ({
      about: policy,
      facts: {
        policy: policy.metadata.name,
        node,
        line: extractNmstateError(message),
        enactment: enactment.metadata.name,
      },
      evidence: [`enactment ${enactment.metadata.name}: ${message.split('\n')[0] ?? ''}`],
    })),
})

const policyAborted = rule({
  id: 'nmstate/policy-aborted',
  problem: problems.policyAborted,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  match: (cluster) => {
    const failed = new Set(enactmentsWithCondition(cluster, 'Failing').map(({ policy }) => policy))
    return enactmentsWithCondition(cluster, 'Aborted').map(({ policy, node, enactment }) => ({
      about: enactment,
      facts: { policy: policy.metadata.name, node },
      dependsOn: failed.has(policy) ? [policy] : [],
    }))
  },
})

const policyNotTaken = rule({
  id: 'nmstate/policy-not-taken',
  problem: problems.policyNotTaken,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'likely',
  match: (cluster) =>
    cluster
      .derive(policiesOnNodes)
      .filter(
        ({ policy, has, generation }) =>
          (has ?? -1) < generation &&
          policy.metadata.deletionTimestamp === undefined &&
          ageMs(lastSpecChange(policy), cluster.now) >= cluster.context.grace.podMs,
      )
      .map(({ policy, node, generation, has }) => ({
        about: policy,
        facts: { policy: policy.metadata.name, node, generation, has },
        dependsOn: cluster.all('Node').filter(({ metadata }) => metadata.name === node),
      })),
})

/** The time of the latest write except to the status. */
function lastSpecChange({ metadata }: KubeObject): string | undefined {
  const times = (metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource === undefined)
    .flatMap(({ time }) => time ?? [])
  return times.sort().at(-1) ?? metadata.creationTimestamp
}

const policyWithoutNodes = rule({
  id: 'nmstate/policy-for-nobody',
  problem: problems.policyWithoutNodes,
  looksAt: [POLICY, 'Node'],
  match: (cluster) =>
    cluster
      .all(POLICY)
      .filter((policy) => selectedNodes(policy, cluster.context).length === 0)
      .map((policy) => {
        const labels = Object.entries(asRecord(getField(policy, 'spec', 'nodeSelector')))
        const selector = labels.map(([key, value]) => `${key}=${String(value)}`).join(', ') || 'every node'
        return { about: policy, facts: { policy: policy.metadata.name, selector } }
      }),
})

const policyOverwritten = rule({
  id: 'nmstate/overwritten-by-another-cloud',
  problem: problems.policyOverwritten,
  looksAt: [NAD, 'Node'],
  also: [POLICY, STATE],
  match: (cluster) => {
    const byMaster = groupBy(cluster.derive(podSpans), ({ read }) => read.master)
    return [...cluster.derive(interfacesByNode)].flatMap(([node, interfaces]) =>
      [...byMaster].flatMap(([master, users]) => {
        const subnets = master === undefined ? [] : (interfaces.get(master)?.subnets ?? [])
        const lost = users.find(({ cidr }) => !subnets.includes(cidr))
        const kept = users.find(({ cidr, namespace }) => subnets.includes(cidr) && namespace !== lost?.namespace)
        if (!lost || !kept || master === undefined) return []
        const about = findPolicy(master, node, cluster) ?? lost.object
        const facts = {
          interface: master,
          node,
          cloud: lost.namespace,
          subnet: lost.cidr,
          other: kept.namespace,
          otherSubnet: kept.cidr,
        }
        return [{ about, facts }]
      }),
    )
  },
})

function findPolicy(name: string, node: string, cluster: ClusterState): KubeObject | undefined {
  return cluster
    .all(POLICY)
    .find(
      (policy) =>
        selectedNodes(policy, cluster.context).includes(node) &&
        desiredInterfaces(policy).some((desiredInterface) => desiredInterface.name === name),
    )
}

const policiesDisagree = rule({
  id: 'nmstate/policies-disagree',
  problem: problems.policiesDisagree,
  looksAt: [POLICY, 'Node'],
  match: (cluster) => {
    const claims = cluster.derive(policiesOnNodes).flatMap(({ policy, node }) =>
      desiredInterfaces(policy)
        .filter(({ addresses, state }) => addresses.length > 0 && state !== 'absent')
        .map((desiredInterface) => ({
          policy,
          node,
          name: desiredInterface.name,
          addresses: desiredInterface.addresses.toSorted().join(' '),
        })),
    )
    return [...groupBy(claims, ({ node, name }) => `${node} ${name}`).values()].flatMap((all) => {
      const [first] = all
      const other = all.find(({ addresses }) => addresses !== first?.addresses)
      if (!first || !other) return []
      const policies = [first.policy.metadata.name, other.policy.metadata.name]
      return [{ about: other.policy, facts: { interface: first.name, node: first.node, policies } }]
    })
  },
})

const defaultRoute = rule({
  id: 'nmstate/default-route',
  problem: problems.defaultRoute,
  looksAt: [POLICY],
  likelihood: 'likely',
  match: (cluster) =>
    cluster.all(POLICY).flatMap((policy) =>
      getList(policy, 'spec', 'desiredState', 'routes', 'config')
        .filter(
          (route) =>
            ['0.0.0.0/0', '::/0'].includes(getString(route, 'destination') ?? '') &&
            getString(route, 'state') !== 'absent' &&
            // A route in a separate table does not redirect other traffic.
            [undefined, 254].includes(getNumber(route, 'table-id')),
        )
        .map((route) => ({
          about: policy,
          path: 'spec.desiredState.routes',
          facts: { policy: policy.metadata.name, interface: getString(route, 'next-hop-interface') ?? '?' },
        })),
    ),
})

export const nmstateRules: readonly Rule[] = [
  policyFailed,
  policyAborted,
  policyOverwritten,
  policiesDisagree,
  policyNotTaken,
  policyWithoutNodes,
  defaultRoute,
]
