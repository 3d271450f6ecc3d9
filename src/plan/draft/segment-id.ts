/** How a segment is called: `main/20` in data, "VLAN 20 of NIC main" in a sentence. */
import type { Tag } from './vlan-ids.ts'

export function segmentId(nic: string, tag: Tag): string {
  return `${nic}/${tag}`
}

export function describeSegment(id: string): string {
  const [nic = '', tag = ''] = id.split('/')
  return tag === 'untagged' ? `the untagged network of NIC ${nic}` : `VLAN ${tag} of NIC ${nic}`
}
