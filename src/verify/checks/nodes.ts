/** Node networking: every policy of the site is as planned, and in force on every node for its current generation. */

import { nameOf } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { plannedMissing } from '../../errors/verify.ts'
import { policyNotEnacted } from '../../errors/verify-networks.ts'
import { readinessOfLive } from '../readiness/readiness.ts'
import { standardGrace } from '../readiness/verdict.ts'
import { asPlanned, desiredOf } from './as-planned.ts'
import { counted, placeOf, type SiteCheck, type SiteLook } from './check.ts'
import { ENACTMENT, NODE, POLICY } from './kinds.ts'

export const nodePolicies: SiteCheck = {
  scope: 'site',
  id: 'node-policies',
  title: 'Node policies',
  promise: 'every node policy is as planned, and enacted on every node for its current generation',
  kinds: [POLICY, ENACTMENT, NODE],
  look: (look) => {
    const policies = desiredOf(
      look.documents.map(({ object }) => object),
      POLICY,
    )
    return {
      seen: counted(policies.length, 'policy'),
      count: policies.length,
      findings: policies.flatMap((one) => judge(one, look)),
    }
  },
}

function judge(policy: SiteLook['documents'][number]['object'], look: SiteLook): readonly Finding[] {
  const { plan, live, now, documents } = look
  const owner = documents.find(({ object }) => object === policy)?.cloud ?? 'the nodes'
  const found = live.get(groupKindOf(policy), policy.metadata.name)
  if (!found)
    return [finding(plannedMissing, { cloud: owner, what: nameOf(policy) }, { where: placeOf(policy) })]
  const different = asPlanned({ cloud: { name: owner }, live }, [policy])
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  const readiness = readinessOfLive(found, { around: live, now, grace: standardGrace, nodes })
  if (readiness.kind === 'ready') return different
  const facts =
    readiness.kind === 'failed'
      ? { policy: policy.metadata.name, why: readiness.cause, next: readiness.next }
      : { policy: policy.metadata.name, why: `waits for ${readiness.waits}`, next: undefined }
  return [...different, finding(policyNotEnacted, facts, { where: placeOf(found) })]
}
