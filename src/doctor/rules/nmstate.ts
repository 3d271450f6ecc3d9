/** Networking of the nodes: policies that failed, stayed behind, or undid each other. */
import type { KubeObject } from '../../api/object.ts'
import { at, conditionOf, listAt, numberAt, sinceMs, textAt } from '../../api/raw-object.ts'
import * as problems from '../../errors/doctor-nmstate.ts'
import { groupBy } from '../../plan/group.ts'
import { ENACTMENT, selectedNodes } from '../../verify/readiness/nmstate.ts'
import { recordOf } from '../../yaml/loose.ts'
import { NAD, podSpans } from '../facts/attachments.ts'
import { desired, interfacesByNode, POLICY, STATE } from '../facts/interfaces.ts'
import { usefulLine } from '../facts/nmstate-error.ts'
import { links } from '../links.ts'
import type { Patient } from '../patient.ts'
import { type Rule, rule } from '../rule.ts'

interface OnNode {
  readonly policy: KubeObject
  readonly node: string
  readonly enactment: KubeObject | undefined
  readonly generation: number
  readonly has: number | undefined
}

/** Every policy on every node that it selects. */
function onNodes(patient: Patient): readonly OnNode[] {
  return patient.all(POLICY).flatMap((policy) =>
    selectedNodes(policy, patient.context).map((node) => {
      const enactment = patient.get(ENACTMENT, `${node}.${policy.metadata.name}`)
      return {
        policy,
        node,
        enactment,
        generation: policy.metadata.generation ?? 0,
        has: enactment && numberAt(enactment, 'status', 'policyGeneration'),
      }
    }),
  )
}

/** Enactments of the present generation that say so, and no longer try. */
function saying(
  patient: Patient,
  type: string,
): readonly (OnNode & { readonly enactment: KubeObject; readonly words: string })[] {
  return patient.derive(onNodes).flatMap((one) => {
    const { enactment, has, generation } = one
    if (!enactment || (has ?? -1) < generation) return []
    const condition = conditionOf(enactment, type)
    if (condition?.status !== 'True' || conditionOf(enactment, 'Progressing')?.status === 'True') return []
    return [{ ...one, enactment, words: condition.message ?? condition.reason ?? '' }]
  })
}

const policyFailed = rule({
  id: 'nmstate/policy-failed',
  problem: problems.policyFailed,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  holds: (patient) =>
    saying(patient, 'Failing').map(({ policy, node, enactment, words }) => ({
      about: policy,
      facts: {
        policy: policy.metadata.name,
        node,
        line: usefulLine(words),
        enactment: enactment.metadata.name,
      },
      saw: [`enactment ${enactment.metadata.name}: ${words.split('\n')[0] ?? ''}`],
    })),
})

const policyAborted = rule({
  id: 'nmstate/policy-aborted',
  problem: problems.policyAborted,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  holds: (patient) => {
    const failed = new Set(saying(patient, 'Failing').map(({ policy }) => policy))
    return saying(patient, 'Aborted').map(({ policy, node, enactment }) => ({
      about: enactment,
      facts: { policy: policy.metadata.name, node },
      restsOn: failed.has(policy) ? [policy] : [],
    }))
  },
})

const policyNotTaken = rule({
  id: 'nmstate/policy-not-taken',
  problem: problems.policyNotTaken,
  looksAt: [POLICY, ENACTMENT, 'Node'],
  likelihood: 'likely',
  link: links.nmstate,
  holds: (patient) =>
    patient
      .derive(onNodes)
      .filter(
        ({ policy, has, generation }) =>
          (has ?? -1) < generation &&
          policy.metadata.deletionTimestamp === undefined &&
          sinceMs(changedAt(policy), patient.now) >= patient.context.grace.podMs,
      )
      .map(({ policy, node, generation, has }) => ({
        about: policy,
        facts: { policy: policy.metadata.name, node, generation, has },
        restsOn: patient.all('Node').filter(({ metadata }) => metadata.name === node),
      })),
})

/** When somebody last changed what it says: the newest write of anything but its status. */
function changedAt({ metadata }: KubeObject): string | undefined {
  const times = (metadata.managedFields ?? [])
    .filter(({ subresource }) => subresource === undefined)
    .flatMap(({ time }) => time ?? [])
  return times.sort().at(-1) ?? metadata.creationTimestamp
}

const policyForNobody = rule({
  id: 'nmstate/policy-for-nobody',
  problem: problems.policyForNobody,
  looksAt: [POLICY, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  holds: (patient) =>
    patient
      .all(POLICY)
      .filter((policy) => selectedNodes(policy, patient.context).length === 0)
      .map((policy) => {
        const wanted = Object.entries(recordOf(at(policy, 'spec', 'nodeSelector')))
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
  holds: (patient) => {
    const byMaster = groupBy(patient.derive(podSpans), ({ read }) => read.master)
    return [...patient.derive(interfacesByNode)].flatMap(([node, interfaces]) =>
      [...byMaster].flatMap(([master, users]) => {
        const subnets = master === undefined ? [] : (interfaces.get(master)?.subnets ?? [])
        const lost = users.find(({ cidr }) => !subnets.includes(cidr))
        const kept = users.find(
          ({ cidr, namespace }) => subnets.includes(cidr) && namespace !== lost?.namespace,
        )
        if (!lost || !kept || master === undefined) return []
        const about = policyOf(master, node, patient) ?? lost.object
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

function policyOf(name: string, node: string, patient: Patient): KubeObject | undefined {
  return patient
    .all(POLICY)
    .find(
      (policy) =>
        selectedNodes(policy, patient.context).includes(node) &&
        desired(policy).some((one) => one.name === name),
    )
}

const policiesDisagree = rule({
  id: 'nmstate/policies-disagree',
  problem: problems.policiesDisagree,
  looksAt: [POLICY, 'Node'],
  likelihood: 'proven',
  link: links.nmstate,
  holds: (patient) => {
    const claims = patient.derive(onNodes).flatMap(({ policy, node }) =>
      desired(policy)
        .filter(({ addresses, state }) => addresses.length > 0 && state !== 'absent')
        .map((one) => ({ policy, node, name: one.name, addresses: one.addresses.toSorted().join(' ') })),
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
  holds: (patient) =>
    patient.all(POLICY).flatMap((policy) =>
      listAt(policy, 'spec', 'desiredState', 'routes', 'config')
        .filter(
          (route) =>
            ['0.0.0.0/0', '::/0'].includes(textAt(route, 'destination') ?? '') &&
            textAt(route, 'state') !== 'absent' &&
            // A table of its own takes nobody's traffic unasked.
            [undefined, 254].includes(numberAt(route, 'table-id')),
        )
        .map((route) => ({
          about: policy,
          path: 'spec.desiredState.routes',
          facts: { policy: policy.metadata.name, interface: textAt(route, 'next-hop-interface') ?? '?' },
        })),
    ),
})

export const nmstateRules: readonly Rule[] = [
  policyFailed,
  policyAborted,
  policyOverwritten,
  policiesDisagree,
  policyNotTaken,
  policyForNobody,
  defaultRoute,
]
