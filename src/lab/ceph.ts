/** The pools and users of Ceph, and the keyrings where Kolla-Ansible looks for them. */
import { randomBytes } from 'node:crypto'
import type { TreeFile } from './tree.ts'

export const pools = ['images', 'volumes', 'vms', 'backups'] as const

export interface CephUser {
  readonly name: string
  readonly caps: Readonly<Record<'mon' | 'osd' | 'mgr', string>>
  /** Below kolla/config/. */
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
    // Nova's user is Cinder's.
    folders: ['cinder/cinder-volume', 'cinder/cinder-backup', 'nova'],
  },
  {
    name: 'cinder-backup',
    caps: { mon: 'profile rbd', osd: 'profile rbd pool=backups', mgr: 'profile rbd pool=backups' },
    folders: ['cinder/cinder-backup'],
  },
]

/** A cephx key: its type, when it was made (left out), its length, and sixteen random bytes. */
function generateCephKey(): string {
  const head = Buffer.alloc(12)
  head.writeUInt16LE(1, 0)
  head.writeUInt16LE(16, 10)
  return Buffer.concat([head, randomBytes(16)]).toString('base64')
}

export type CephKeys = Readonly<Record<string, string>>

/** What a tree has already is kept. */
export function ensureCephKeys(existing: (path: string) => string | undefined): CephKeys {
  return Object.fromEntries(
    cephUsers.map(({ name }) => {
      const kept = /^key = (\S+)$/m.exec(existing(keyringPath(name)) ?? '')?.[1]
      return [name, kept ?? generateCephKey()]
    }),
  )
}

function keyringPath(user: string): string {
  return `ceph/keyrings/ceph.client.${user}.keyring`
}

/** With capabilities for `ceph auth import`; the same key alone for the services. No leading tabs: Kolla stumbles. */
export function keyringFiles(keys: CephKeys): readonly TreeFile[] {
  return cephUsers.flatMap(({ name, caps, folders }) => {
    const bare = `[client.${name}]\nkey = ${keys[name]}\n`
    const full =
      bare +
      Object.entries(caps)
        .map(([cap, value]) => `caps ${cap} = "${value}"\n`)
        .join('')
    return [
      { path: keyringPath(name), text: full, secret: true as const },
      ...folders.map((folder) => ({
        path: `kolla/config/${folder}/ceph.client.${name}.keyring`,
        text: bare,
        secret: true as const,
      })),
    ]
  })
}
