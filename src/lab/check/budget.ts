/** Checks the nodes against the host: memory is a hard limit, CPUs and nominal disk are soft. Prechecks check none. */
import { type Finding, finding } from '../../errors/finding.ts'
import {
  cpuOvercommit,
  cpuOvercommitTooHigh,
  diskOvercommit,
  diskTooSmall,
  memoryExceeded,
  nodeBelowMinimum,
} from '../findings/lab-file.ts'
import { hasRole, type Lab, type LabNode } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

export interface ResourceTotals {
  readonly memory: number
  readonly cpus: number
  readonly osDisk: number
  readonly lvmDisk: number
  readonly osdDisk: number
  readonly stateDisk: number
  readonly nominalDisk: number
}

export function sumResources({ nodes }: Lab): ResourceTotals {
  const sum = (of: (node: LabNode) => number): number => nodes.reduce((total, node) => total + of(node), 0)
  const disks = (use: string): number =>
    sum((node) => node.disks.filter((disk) => disk.use === use).reduce((total, disk) => total + disk.size, 0))
  const osDisk = sum((node) => node.disk)
  const [lvmDisk, osdDisk, stateDisk] = [disks('lvm'), disks('osd'), disks('state')]
  return {
    memory: sum((node) => node.memory),
    cpus: sum((node) => node.cpus),
    osDisk,
    lvmDisk,
    osdDisk,
    stateDisk,
    nominalDisk: osDisk + lvmDisk + osdDisk + stateDisk,
  }
}

const MINIMUM = { memory: 8, disk: 40 }
const MAX_OVERCOMMIT = 1.5

export function checkBudget({ lab, locate }: CheckContext): readonly Finding[] {
  const { host, nodes } = lab
  const { memory, cpus, nominalDisk } = sumResources(lab)
  const found: Finding[] = []
  const over = memory - (host.memory - host.reserve.memory)
  if (over > 0) {
    const facts = { total: memory, have: host.memory, reserve: host.reserve.memory, over }
    found.push(finding(memoryExceeded, facts, { where: locate('host', 'memory') }))
  }
  const most = Math.floor(host.cores * MAX_OVERCOMMIT)
  const where = locate('host', 'cores')
  if (cpus > most) found.push(finding(cpuOvercommitTooHigh, { total: cpus, cores: host.cores, most }, { where }))
  else if (cpus >= host.cores) found.push(finding(cpuOvercommit, { total: cpus, cores: host.cores }, { where }))
  const needed = nodes.reduce((total, node) => total + initialDiskUse(node), 0)
  const overcommit = nominalDisk + host.reserve.disk - host.disk
  const diskLocation = { where: locate('host', 'disk') }
  if (needed + host.reserve.disk > host.disk)
    found.push(finding(diskTooSmall, { needed, free: host.disk, reserve: host.reserve.disk }, diskLocation))
  else if (overcommit > 0) {
    const facts = { nominal: nominalDisk, reserve: host.reserve.disk, free: host.disk, over: overcommit }
    found.push(finding(diskOvercommit, facts, diskLocation))
  }
  nodes.forEach((node, index) => {
    for (const what of ['memory', 'disk'] as const) {
      const have = node[what]
      const least = MINIMUM[what]
      if (have >= least) continue
      const facts = { node: node.name, what: what === 'memory' ? 'RAM' : 'disk', have, least }
      found.push(finding(nodeBelowMinimum, facts, { where: locate('nodes', index, what) }))
    }
  })
  return found
}

/** GiB that the OS and the containers use after the first deployment. */
function initialDiskUse(node: LabNode): number {
  return hasRole(node, 'control') ? 25 : 12
}
