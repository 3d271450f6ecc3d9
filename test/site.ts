/** Sites for tests: from a partial spec to a file, and from a file to a plan. */

import type { SiteFileSpec } from '../src/api/site.ts'
import { emptyLock, type Lock } from '../src/plan/lock.ts'
import { type PlanInput, type PlanResult, planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { readSite } from '../src/site/read.ts'
import { writeYaml } from '../src/yaml/write.ts'
import { TODAY } from './sandbox-context.ts'

type Cluster = Partial<SiteFileSpec['cluster']>

export interface PartialSiteSpec extends Omit<Partial<SiteFileSpec>, 'cluster'> {
  readonly cluster?: Cluster
}

/** A complete site file; what the spec leaves out is as small as possible. */
export function siteText({ cluster, ...spec }: PartialSiteSpec, name = 'lab'): string {
  return writeYaml({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name },
    spec: {
      cluster: { nodes: [{ name: 'worker-0', nic: 'enp6s0' }], ...cluster },
      ...spec,
      clouds: spec.clouds ?? [{ name: 'rhoso1', namespace: 'openstack' }],
    },
  })
}

/** The release whose CRDs the sandbox has, because several tests apply what they render. */
const table = builtInTable(TODAY)

type RequestParts = Partial<Omit<PlanInput, 'site' | 'locate'>>

/** Throws when the text is not a site: then the test is wrong. */
export function planText(text: string, settings: RequestParts = {}): PlanResult {
  const { site, locate, findings } = readSite(text, 'site.yaml')
  if (!site) throw new Error(findings.map((finding) => finding.message).join('\n'))
  const lock: Lock = settings.lock ?? emptyLock(site.name)
  return planSite({ slots: table, ...settings, lock, findings, site, locate })
}

export function planSpec(words: PartialSiteSpec, settings: RequestParts = {}): PlanResult {
  return planText(siteText(words), settings)
}

/** The codes of errors and warnings. */
export function listCodes({ plan }: PlanResult): readonly string[] {
  return [
    ...new Set(plan.findings.filter((finding) => finding.severity !== 'info').map((finding) => finding.code)),
  ].sort()
}
