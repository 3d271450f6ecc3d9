/** ceph.conf for the services, and what the bootstrap starts from. */
import { randomUUID } from 'node:crypto'
import { type Lab, nodesWithRole } from '../lab.ts'
import type { TreeFile } from '../tree.ts'

const FOLDERS = ['glance', 'cinder', 'nova'] as const

/** The cluster's identity is made here, so that everything that refers to it can be rendered before it exists. */
export function ensureFsid(existing: (path: string) => string | undefined): string {
  return /^fsid = (\S+)$/m.exec(existing('ceph/ceph.conf') ?? '')?.[1] ?? randomUUID()
}

export function cephConfFiles(lab: Lab, fsid: string): readonly TreeFile[] {
  const text = `[global]
fsid = ${fsid}
mon_host = ${nodesWithRole(lab, 'ceph-mon')
    .map((node) => node.address)
    .join(',')}
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
`
  const initial = `[global]
osd_pool_default_size = 2
osd_pool_default_min_size = 1

[osd]
osd_memory_target = 1073741824
osd_memory_target_autotune = false
`
  return [
    { path: 'ceph/ceph.conf', text },
    { path: 'ceph/initial.conf', text: initial },
    ...FOLDERS.map((folder) => ({ path: `kolla/config/${folder}/ceph.conf`, text })),
  ]
}
