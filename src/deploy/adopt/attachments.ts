/** Network attachments that exist: kept as they are, and told where the plan would have them otherwise. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { textAt } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { attachmentKept } from '../../errors/adopt.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { fieldsOf } from '../../render/merge.ts'
import { cniConfig } from '../../render/multus.ts'

const looked = ['range', 'range_start', 'range_end', 'network_name'] as const

export function attachmentFindings(live: SnapshotIndex, cloud: PlannedCloud): readonly Finding[] {
  return cloud.networks.flatMap((network) => {
    const there = live.get('k8s.cni.cncf.io/NetworkAttachmentDefinition', network.name, cloud.namespace)
    if (!there || network.attach === 'none') return []
    const planned = fieldsOf(cniConfig(cloud, network)['ipam'])
    const found = fieldsOf(configOf(there)['ipam'])
    const what = looked
      .filter((key) => planned[key] !== found[key])
      .map((key) => words(key, found[key], planned[key]))
    if (what.length === 0) return []
    const attachment = `NetworkAttachmentDefinition ${cloud.namespace}/${network.name}`
    return [finding(attachmentKept, { attachment, what: what.join('; ') })]
  })
}

function configOf(definition: KubeObject): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(textAt(definition, 'spec', 'config') ?? '{}'))
  } catch {
    return {}
  }
}

function words(key: string, found: unknown, planned: unknown): string {
  const has = found === undefined ? `it has no ${key}` : `its ${key} is ${JSON.stringify(found)}`
  return planned === undefined
    ? `${has}, the plan has none`
    : `${has}, the plan has ${JSON.stringify(planned)}`
}
