/** Renders what phase 2 needs of Ceph: cephadm's specifications, ceph.conf, users and keyrings. */
import { randomBytes, randomUUID } from 'node:crypto'
import { writeYamlStream } from '../yaml/write.ts'
import { hasRole, type Lab, type LabNode, nodesWithRole } from './lab.ts'
import { banner, type TreeFile } from './tree.ts'

export const pools = ['images', 'volumes', 'vms', 'backups'] as const

export function cephSpecFile(lab: Lab): TreeFile {
  const members = lab.nodes.filter((node) => hasRole(node, 'ceph-mon') || osdDevice(node) !== undefined)
  const monitors = nodesWithRole(lab, 'ceph-mon').map((node) => node.name)
  const hosts = members.map((node) => ({
    service_type: 'host',
    hostname: node.name,
    addr: node.address,
    labels: [...(hasRole(node, 'ceph-mon') ? ['_admin', 'mon', 'mgr'] : []), ...(osdDevice(node) ? ['osd'] : [])],
  }))
  // One specification per host, because the device name depends on whether the node has an LVM disk.
  const osds = members.flatMap((node) => {
    const device = osdDevice(node)
    if (device === undefined) return []
    const spec = { data_devices: { paths: [device] } }
    return [{ service_type: 'osd', service_id: node.name, placement: { hosts: [node.name] }, spec }]
  })
  const specs = [
    ...hosts,
    { service_type: 'mon', placement: { hosts: monitors } },
    { service_type: 'mgr', placement: { hosts: monitors } },
    ...osds,
  ]
  return { path: 'ceph/cluster.yaml', text: banner() + writeYamlStream(specs) }
}

function osdDevice(node: LabNode): string | undefined {
  return node.disks.find((disk) => disk.use === 'osd')?.device
}

/** The cluster id is chosen before the cluster exists, so that files that refer to it can be rendered. */
export function ensureFsid(existing: (path: string) => string | undefined): string {
  return /^fsid = (\S+)$/m.exec(existing('ceph/ceph.conf') ?? '')?.[1] ?? randomUUID()
}

export function cephConfFiles(lab: Lab, fsid: string): readonly TreeFile[] {
  const monitors = nodesWithRole(lab, 'ceph-mon').map((node) => node.address)
  const text = `[global]
fsid = ${fsid}
mon_host = ${monitors.join(',')}
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
    ...['glance', 'cinder', 'nova'].map((folder) => ({ path: `kolla/config/${folder}/ceph.conf`, text })),
  ]
}

interface CephUser {
  readonly name: string
  readonly caps: Readonly<Record<'mon' | 'osd' | 'mgr', string>>
  /** Folders below kolla/config/ where Kolla-Ansible looks for the keyring. */
  readonly folders: readonly string[]
}

const cephUsers: readonly CephUser[] = [
  {
    name: 'glance',
    caps: { mon: 'profile rbd', osd: 'profile rbd pool=images', mgr: 'profile rbd pool=images' },
    folders: ['glance'],
  },
  {
    name: 'cinder',
    caps: {
      mon: 'profile rbd',
      osd: 'profile rbd pool=volumes, profile rbd pool=vms, profile rbd-read-only pool=images',
      mgr: 'profile rbd pool=volumes, profile rbd pool=vms',
    },
    // Nova uses Cinder's user.
    folders: ['cinder/cinder-volume', 'cinder/cinder-backup', 'nova'],
  },
  {
    name: 'cinder-backup',
    caps: { mon: 'profile rbd', osd: 'profile rbd pool=backups', mgr: 'profile rbd pool=backups' },
    folders: ['cinder/cinder-backup'],
  },
]

/** A cephx key: type, creation time (zero), length, and sixteen random bytes. */
function generateCephKey(): string {
  const head = Buffer.alloc(12)
  head.writeUInt16LE(1, 0)
  head.writeUInt16LE(16, 10)
  return Buffer.concat([head, randomBytes(16)]).toString('base64')
}

export type CephKeys = Readonly<Record<string, string>>

/** Keeps the keys of an existing tree. */
export function ensureCephKeys(existing: (path: string) => string | undefined): CephKeys {
  return Object.fromEntries(
    cephUsers.map(({ name }) => {
      const existingKey = /^key = (\S+)$/m.exec(existing(keyringPath(name)) ?? '')?.[1]
      return [name, existingKey ?? generateCephKey()]
    }),
  )
}

function keyringPath(user: string): string {
  return `ceph/keyrings/ceph.client.${user}.keyring`
}

/** With capabilities for `ceph auth import`, without for the services. Kolla cannot parse lines that start with a tab. */
export function keyringFiles(keys: CephKeys): readonly TreeFile[] {
  return cephUsers.flatMap(({ name, caps, folders }) => {
    const key = `[client.${name}]\nkey = ${keys[name]}\n`
    const capabilities = Object.entries(caps).map(([cap, value]) => `caps ${cap} = "${value}"\n`)
    return [
      { path: keyringPath(name), text: key + capabilities.join(''), secret: true as const },
      ...folders.map((folder) => ({
        path: `kolla/config/${folder}/ceph.client.${name}.keyring`,
        text: key,
        secret: true as const,
      })),
    ]
  })
}
