/** Checks that the nodes have the kernel settings of the site, as far as OpenShift's Node Tuning Operator reports them. */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, getList, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { nodeNotTuned } from '../findings/network-findings.ts'
import { locateObject, outcome, PROFILE, type SiteCheck, TUNED } from './check-definition.ts'
import { compareWithPlan, filterByKind } from './compare-with-plan.ts'

export const nodeTuning: SiteCheck = {
  scope: 'site',
  id: 'node-tuning',
  title: 'Kernel settings of the nodes',
  promise: 'every node has a TuneD profile of the site',
  kinds: [],
  // Only OpenShift serves them.
  optionalKinds: [TUNED, PROFILE],
  run: ({ plan, documents, live }) => {
    const [tuned] = filterByKind(
      documents.map(({ object }) => object),
      TUNED,
    )
    if (!tuned || live.unread(formatGroupKind(TUNED)) !== undefined) return outcome(0, 'node', [])
    const nodes = new Set(plan.from.cluster.nodes.map(({ name }) => name))
    const profiles = live.all(formatGroupKind(PROFILE)).filter(({ metadata }) => nodes.has(metadata.name))
    return outcome(profiles.length, 'node', [
      ...compareWithPlan({ cloud: { name: 'the nodes' }, live }, [tuned]),
      ...profiles.flatMap((profile) => profileFindings(profile, tuned)),
    ])
  },
}

/** A profile of a PerformanceProfile or of another Tuned object may win over ours. */
function profileFindings(live: KubeObject, tuned: KubeObject): readonly Finding[] {
  const rendered = getList(tuned, 'spec', 'profile').map((profile) => getString(profile, 'name'))
  const profile = getString(live, 'spec', 'config', 'tunedProfile') ?? 'unknown'
  const facts = { node: live.metadata.name, profile }
  const where = locateObject(live)
  if (!rendered.includes(profile)) return [finding(nodeNotTuned, { ...facts, why: undefined }, { where })]
  const problems = [findCondition(live, 'Degraded')].filter((condition) => condition?.status === 'True')
  return problems.map((condition) =>
    finding(nodeNotTuned, { ...facts, why: condition?.message ?? condition?.reason ?? 'degraded' }, { where }),
  )
}
