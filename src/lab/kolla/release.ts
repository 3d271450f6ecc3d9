/**
 * Describes Kolla-Ansible 2025.2: its inventory groups, image tags, password keys, variables, and what it leaves
 * without TLS. Pure, except that its lists are read from `data/`.
 */
import { readData } from '../../data/data.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type Lab, usesCeph } from '../lab.ts'

/** The groups that list hosts. `deployment` stays empty: prechecks would check this machine as if it were a node. */
export const topGroups = ['control', 'network', 'compute', 'monitoring', 'storage', 'deployment'] as const

export interface ChildGroup {
  readonly name: string
  readonly members: readonly string[]
}

/** Complete: prechecks refuse an inventory without the group of a disabled service. */
export const childGroups: readonly ChildGroup[] = readLists('kolla-groups.txt').flatMap(([members, names]) =>
  names.map((name) => ({ name, members: members.split(' ') })),
)

export const allGroups: readonly string[] = [...topGroups, ...childGroups.map((group) => group.name)]

const CODENAME = { debian: 'bookworm', ubuntu: 'noble' } as const

export function imageTag(lab: Lab): string {
  const { base } = lab.containers
  return `${lab.release}-${base}-${CODENAME[base]}${imageTagSuffix(lab)}`
}

export function imageTagSuffix({ arch }: Lab): string {
  return arch === 'aarch64' ? '-aarch64' : ''
}

export interface TlsGap {
  readonly what: string
  readonly where: string
}

/** Traffic that this release cannot encrypt. */
export function tlsGaps(lab: Lab): readonly TlsGap[] {
  return [
    { what: 'OVN northbound and southbound databases', where: 'TCP 6641 and 6642 on the management network' },
    { what: 'memcached', where: 'TCP 11211 on the management network' },
    { what: 'iSCSI', where: 'TCP 3260 on the isolated storage network' },
    { what: 'Geneve', where: 'UDP 6081 on the isolated tunnel network' },
    ...(lab.monitoring.prometheus ? [{ what: 'Prometheus exporters', where: 'on the management network' }] : []),
    ...(usesCeph(lab) ? [{ what: 'Ceph messenger', where: 'on the storage network' }] : []),
  ]
}

export type SecretKind = 'uuid' | 'ssh-key' | 'digest' | 'fernet' | 'salt' | 'password' | 'empty'

/** The keys of passwords.yml. Complete: `kolla-genpwd` adds nothing to a file that has them all. */
export const passwordKeys: ReadonlyMap<string, SecretKind> = new Map(
  readLists('kolla-passwords.txt')
    .flatMap(([kind, keys]) => keys.map((key) => [key, kind as SecretKind] as const))
    .sort(([a], [b]) => (a < b ? -1 : 1)),
)

/** Lines such as `mariadb: prometheus-mysqld-exporter`. */
function readLists(file: string): readonly (readonly [string, readonly string[]])[] {
  return readData(file)
    .trim()
    .split('\n')
    .map((line) => {
      const [head = '', items = ''] = line.split(': ')
      return [head, items.split(' ')] as const
    })
}

/** Every variable that Kolla-Ansible reads. `tools/kolla-variables.ts` writes the file. */
export function readVariableNames(): readonly string[] {
  return readData('kolla-variables.txt').trim().split('\n')
}

export interface KnownVariables {
  readonly has: (name: string) => boolean
  /** The known name closest to a misspelt one. */
  readonly nearest: (name: string) => string | undefined
}

export function knownVariables({ overrides }: Lab): KnownVariables {
  const names = new Set([...readVariableNames(), ...passwordKeys.keys()])
  // Kolla treats the files below config/ as templates, so the variables that they use are read.
  const templates = [...Object.values(overrides.config), JSON.stringify(overrides.globals)].join('\n')
  const used = new Set(templates.match(/(?<=\{\{[^}]*)[a-z]\w+/g))
  return {
    has: (name) => names.has(name) || name.startsWith('ansible_') || used.has(name),
    nearest: (name) => closestMatch(name, [...names]),
  }
}
