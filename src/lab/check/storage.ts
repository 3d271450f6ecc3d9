/** Storage: every phase needs disks in the right places. */
import { type Finding, finding } from '../../errors/finding.ts'
import { storageWithoutDisks } from '../findings/kolla.ts'
import { type DiskUse, hasRole, type LabNode, nodesWithRole, usesCeph, usesLvm } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

/** An OSD below this is refused by ceph-volume. */
const SMALLEST_OSD = 5

export function checkStorage({ lab, at }: CheckContext): readonly Finding[] {
  const refuse = (phase: string, why: string): Finding =>
    finding(storageWithoutDisks, { phase, why }, { where: at('storage', 'phase') })
  const found: Finding[] = []
  const storage = nodesWithRole(lab, 'storage')
  if (storage.length === 0) found.push(refuse(lab.storage, 'no node has the role storage, where cinder-volume runs'))
  const bare = storage.filter((node) => !holds(node, 'lvm'))
  if (usesLvm(lab) && bare.length > 0)
    found.push(refuse('lvm', `${bare.map((node) => node.name).join(', ')} has the role storage and no LVM disk`))
  const stray = lab.nodes.filter((node) => holds(node, 'lvm') && !hasRole(node, 'storage'))
  if (stray.length > 0)
    found.push(refuse('lvm', `${stray.map((node) => node.name).join(', ')} has an LVM disk without the role storage`))
  if (!usesCeph(lab)) return found
  const osds = lab.nodes.filter((node) => holds(node, 'osd'))
  if (osds.length < 2) found.push(refuse('ceph', `${osds.length} hosts have an OSD disk, and two copies need two`))
  if (nodesWithRole(lab, 'ceph-mon').length === 0) found.push(refuse('ceph', 'no node has the role ceph-mon'))
  const small = osds.find((node) => node.disks.some((disk) => disk.use === 'osd' && disk.size < SMALLEST_OSD))
  if (small) found.push(refuse('ceph', `the OSD disk of ${small.name} is smaller than ${SMALLEST_OSD} GiB`))
  return found
}

function holds(node: LabNode, use: DiskUse): boolean {
  return node.disks.some((disk) => disk.use === use)
}
