/** Networking of the nodes: policies that failed, stayed behind, or undid each other. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageMs, findCondition, getField, getList, getNumber, getString } from '../../api/raw-object.ts'
import { groupBy } from '../../plan/collections.ts'
import { ENACTMENT, selectedNodes } from '../../verify/readiness/node-policy.ts'
import type { ClusterState } from '../cluster-state.ts'
import { NAD, podSpans } from '../facts/attachments.ts'
import { desiredInterfaces, interfacesByNode, POLICY, STATE } from '../facts/interfaces.ts'
import { extractNmstateError } from '../facts/nmstate-error.ts'
import * as problems from '../findings/nmstate-findings.ts'
import { links, type Rule, rule } from '../rule.ts'

interface PolicyOnNode {
  readonly policy: KubeObject
  readonly node: string
  readonly enactment: KubeObject | undefined
  readonly generation: number
  readonly has: number | undefined
}

/** Every policy on every node that it selects. */
function policiesOnNodes(patient: ClusterState): readonly PolicyOnNode[] {
  return patient.all(POLICY).flatMap((policy) =>
    selectedNodes(policy, patient.context).map((node) => {
      const enactment = patient.get(ENACTMENT, `${node}.${policy.metadata.name}`)
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

/** Enactments of the present generation that say so, and no longer try. */
function enactmentsWithCondition(
  patient: ClusterState,
  type: string,
): readonly (PolicyOnNode & { readonly enactment: KubeObject; readonly words: string })[] {
  return patient.derive(policiesOnNodes).flatMap((onNode) => {
    const { enactment, has, generation } = onNode
    if (!enactment || (has ?? -1) < generation) return []
    const condition = findCondition(enactment, type)
    if (condition?.status !== 'True' || findCondition(enactment, 'Progressing')?.status === 'True') return []
    return [{ ...onNode, enactment, words: condition.message ?? condition.reason ?? '' }]
  })
}

const policyFailed = rule({
  id: 'nmstate/policy-failed',
  problem: problems.policyFailed,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  match: (patient) =>
    enactmentsWithCondition(patient, 'Failing').map(({ policy, node, enactment, words }) => ({
      about: policy,
      facts: {
        policy: policy.metadata.name,
        node,
        line: extractNmstateError(words),
        enactment: enactment.metadata.name,
      },
      evidence: [`enactment ${enactment.metadata.name}: ${words.split('\n')[0] ?? ''}`],
    })),
})

const policyAborted = rule({
  id: 'nmstate/policy-aborted',
  problem: problems.policyAborted,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  match: (patient) => {
    const failed = new Set(enactmentsWithCondition(patient, 'Failing').map(({ policy }) => policy))
    return enactmentsWithCondition(patient, 'Aborted').map(({ policy, node, enactment }) => ({
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
  link: links.nmstate,
  match: (patient) =>
    patient
      .derive(policiesOnNodes)
      .filter(
        ({ policy, has, generation }) =>
          (has ?? -1) < generation &&
          policy.metadata.deletionTimestamp === undefined &&
          ageMs(lastSpecChange(policy), patient.now) >= patient.context.grace.podMs,
      )
      .map(({ policy, node, generation, has }) => ({
        about: policy,
        facts: { policy: policy.metadata.name, node, generation, has },
        dependsOn: patient.all('Node').filter(({ metadata }) => metadata.name === node),
      })),
})

/** When somebody last changed what it says: the newest write of anything but its status. */
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
  likelihood: 'proven',
  link: links.nmstate,
  match: (patient) =>
    patient
      .all(POLICY)
      .filter((policy) => selectedNodes(policy, patient.context).length === 0)
      .map((policy) => {
        const wanted = Object.entries(asRecord(getField(policy, 'spec', 'nodeSelector')))
        const selector = wanted.map(([key, value]) => `${key}=${String(value)}`).join(', ') || 'every node'
        return { about: policy, facts: { policy: policy.metadata.name, selector } }
      }),
})

const policyOverwritten = rule({
  id: 'nmstate/overwritten-by-another-cloud',
  problem: problems.policyOverwritten,
  looksAt: [NAD, 'Node'],
  also: [POLICY, STATE],
  likelihood: 'proven',
  link: links.nmstate,
  match: (patient) => {
    const byMaster = groupBy(patient.derive(podSpans), ({ read }) => read.master)
    return [...patient.derive(interfacesByNode)].flatMap(([node, interfaces]) =>
      [...byMaster].flatMap(([master, users]) => {
        const subnets = master === undefined ? [] : (interfaces.get(master)?.subnets ?? [])
        const lost = users.find(({ cidr }) => !subnets.includes(cidr))
        const kept = users.find(({ cidr, namespace }) => subnets.includes(cidr) && namespace !== lost?.namespace)
        if (!lost || !kept || master === undefined) return []
        const about = findPolicy(master, node, patient) ?? lost.object
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

function findPolicy(name: string, node: string, patient: ClusterState): KubeObject | undefined {
  return patient
    .all(POLICY)
    .find(
      (policy) =>
        selectedNodes(policy, patient.context).includes(node) &&
        desiredInterfaces(policy).some((desiredInterface) => desiredInterface.name === name),
    )
}

const policiesDisagree = rule({
  id: 'nmstate/policies-disagree',
  problem: problems.policiesDisagree,
  looksAt: [POLICY, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  match: (patient) => {
    const claims = patient.derive(policiesOnNodes).flatMap(({ policy, node }) =>
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
      const [one] = all
      const other = all.find(({ addresses }) => addresses !== one?.addresses)
      if (!one || !other) return []
      const policies = [one.policy.metadata.name, other.policy.metadata.name]
      return [{ about: other.policy, facts: { interface: one.name, node: one.node, policies } }]
    })
  },
})

const defaultRoute = rule({
  id: 'nmstate/default-route',
  problem: problems.defaultRoute,
  looksAt: [POLICY],
  likelihood: 'likely',
  link: links.nmstate,
  match: (patient) =>
    patient.all(POLICY).flatMap((policy) =>
      getList(policy, 'spec', 'desiredState', 'routes', 'config')
        .filter(
          (route) =>
            ['0.0.0.0/0', '::/0'].includes(getString(route, 'destination') ?? '') &&
            getString(route, 'state') !== 'absent' &&
            // A table of its own takes nobody's traffic unasked.
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
