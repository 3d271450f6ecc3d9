/** Network attachments that exist: kept as they are, and told where the plan would have them otherwise. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { asFields } from '../../render/merge.ts'
import { cniConfig } from '../../render/multus.ts'
import { attachmentKept } from '../findings/adopt.ts'

const comparedFields = ['range', 'range_start', 'range_end', 'network_name'] as const

export function attachmentFindings(live: SnapshotIndex, cloud: PlannedCloud): readonly Finding[] {
  return cloud.networks.flatMap((network) => {
    const there = live.get('k8s.cni.cncf.io/NetworkAttachmentDefinition', network.name, cloud.namespace)
    if (!there || network.attach === 'none') return []
    const planned = asFields(cniConfig(cloud, network)['ipam'])
    const found = asFields(parseCniConfig(there)['ipam'])
    const what = comparedFields
      .filter((key) => planned[key] !== found[key])
      .map((key) => formatDifference(key, found[key], planned[key]))
    if (what.length === 0) return []
    const attachment = `NetworkAttachmentDefinition ${cloud.namespace}/${network.name}`
    return [finding(attachmentKept, { attachment, what: what.join('; ') })]
  })
}

function parseCniConfig(definition: KubeObject): Readonly<Record<string, unknown>> {
  try {
    return asFields(JSON.parse(getString(definition, 'spec', 'config') ?? '{}'))
  } catch {
    return {}
  }
}

function formatDifference(key: string, found: unknown, planned: unknown): string {
  const has = found === undefined ? `it has no ${key}` : `its ${key} is ${JSON.stringify(found)}`
  return planned === undefined ? `${has}, the plan has none` : `${has}, the plan has ${JSON.stringify(planned)}`
}
