/** Checks that the storage phase has the disks and roles that it needs. */
import { type Finding, finding } from '../../errors/finding.ts'
import { storageWithoutDisks } from '../findings/kolla.ts'
import { type DiskUse, hasRole, type LabNode, nodesWithRole, usesCeph, usesLvm } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

/** ceph-volume refuses smaller disks. */
const MIN_OSD_GIB = 5

export function checkStorage({ lab, locate }: CheckContext): readonly Finding[] {
  const refuse = (phase: string, why: string): Finding =>
    finding(storageWithoutDisks, { phase, why }, { where: locate('storage', 'phase') })
  const found: Finding[] = []
  const storage = nodesWithRole(lab, 'storage')
  if (storage.length === 0) found.push(refuse(lab.storage, 'no node has the role storage, where cinder-volume runs'))
  const withoutLvm = storage.filter((node) => !hasDisk(node, 'lvm'))
  if (usesLvm(lab) && withoutLvm.length > 0)
    found.push(refuse('lvm', `${withoutLvm.map((node) => node.name).join(', ')} has the role storage and no LVM disk`))
  const lvmWithoutRole = lab.nodes.filter((node) => hasDisk(node, 'lvm') && !hasRole(node, 'storage'))
  if (lvmWithoutRole.length > 0)
    found.push(
      refuse('lvm', `${lvmWithoutRole.map((node) => node.name).join(', ')} has an LVM disk without the role storage`),
    )
  if (!usesCeph(lab)) return found
  const osds = lab.nodes.filter((node) => hasDisk(node, 'osd'))
  if (osds.length < 2) found.push(refuse('ceph', `${osds.length} hosts have an OSD disk, and two copies need two`))
  if (nodesWithRole(lab, 'ceph-mon').length === 0) found.push(refuse('ceph', 'no node has the role ceph-mon'))
  const tooSmall = osds.find((node) => node.disks.some((disk) => disk.use === 'osd' && disk.size < MIN_OSD_GIB))
  if (tooSmall) found.push(refuse('ceph', `the OSD disk of ${tooSmall.name} is smaller than ${MIN_OSD_GIB} GiB`))
  return found
}

function hasDisk(node: LabNode, use: DiskUse): boolean {
  return node.disks.some((disk) => disk.use === use)
}
