/** Checks that node policies are as planned and applied on every node. */

import { formatObjectName } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { plannedMissing } from '../findings/check-findings.ts'
import { policyNotEnacted } from '../findings/network-findings.ts'
import { liveReadiness } from '../readiness/readiness.ts'
import { defaultGrace } from '../readiness/verdict.ts'
import { ENACTMENT, locateObject, NODE, outcome, POLICY, type SiteCheck, type SiteContext } from './check-definition.ts'
import { compareWithPlan, filterByKind } from './compare-with-plan.ts'

export const nodePolicies: SiteCheck = {
  scope: 'site',
  id: 'node-policies',
  title: 'Node policies',
  promise: 'every node policy is as planned, and applied on every node in its current generation',
  kinds: [POLICY, ENACTMENT, NODE],
  run: (context) => {
    const policies = filterByKind(
      context.documents.map(({ object }) => object),
      POLICY,
    )
    return outcome(
      policies.length,
      'policy',
      policies.flatMap((policy) => checkPolicy(policy, context)),
    )
  },
}

function checkPolicy(policy: SiteContext['documents'][number]['object'], context: SiteContext): readonly Finding[] {
  const { plan, live, now, documents } = context
  const owner = documents.find(({ object }) => object === policy)?.cloud ?? 'the nodes'
  const found = live.get(formatGroupKind(policy), policy.metadata.name)
  if (!found)
    return [finding(plannedMissing, { cloud: owner, what: formatObjectName(policy) }, { where: locateObject(policy) })]
  const different = compareWithPlan({ cloud: { name: owner }, live }, [policy])
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  const readiness = liveReadiness(found, { around: live, now, grace: defaultGrace, nodes })
  if (readiness.kind === 'ready') return different
  const facts =
    readiness.kind === 'failed'
      ? { policy: policy.metadata.name, why: readiness.cause, next: readiness.next }
      : { policy: policy.metadata.name, why: `waits for ${readiness.waits}`, next: undefined }
  return [...different, finding(policyNotEnacted, facts, { where: locateObject(found) })]
}
