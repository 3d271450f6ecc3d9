/**
 * Decides which SSH host keys a run accepts: those of a node that are pinned or recorded, and any key of a host without.
 *
 * Pure. Hosts are known by their names in the inventory, whatever address and port they have.
 */
import { emptyRecord, getOwn } from '../../api/collections.ts'
import { finding } from '../../errors/finding.ts'
import { hostKeyChanged } from '../findings/runs.ts'
import { type DataPlaneNode, HOST_KEYS_ANNOTATION } from '../kinds/data-plane.ts'
import type { InventoryHosts } from './inventory-hosts.ts'

/** Keys by host, as `ssh-ed25519 AAAA…`. */
export type HostKeys = Readonly<Record<string, readonly string[]>>

/** Ansible's own default, and an end for the connection to a host that lost power: the run would last until its time limit. */
export const SSH_ARGS = [
  '-C',
  ...['ControlMaster=auto', 'ControlPersist=60s', 'ServerAliveInterval=30', 'ServerAliveCountMax=4'].flatMap(
    (option) => ['-o', option],
  ),
]

const KEY = /(?:^|\s)((?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[\w.@-]+ [\w+/]+=*)(?:\s|$)/
/** Anything else could end the line of a file that ssh reads, or be a pattern. */
const PLAIN_HOST = /^[\w.:-]+$/

/** The keys of a text in the form of `known_hosts`, of `ssh-keyscan` or of a public key file. */
function parseHostKeys(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => !/^\s*[#@]/.test(line))
  return [...new Set(lines.flatMap((line) => KEY.exec(line)?.[1] ?? []))]
}

/** Undefined where any key is accepted, because none is known yet. An annotation without a key accepts none. */
export function knownHostKeys({ metadata, status }: DataPlaneNode): readonly string[] | undefined {
  const pinned = metadata.annotations?.[HOST_KEYS_ANNOTATION]
  return pinned === undefined ? status?.sshHostKeys : parseHostKeys(pinned)
}

export interface SshFiles {
  readonly config: string
  readonly knownHosts: string
}

/** The files with which ssh checks the hosts of a run. `knownHostsPath` is where the second one is written. */
export function buildSshFiles(hosts: InventoryHosts, keys: HostKeys, knownHostsPath: string): SshFiles {
  const byAddress = new Map<string, readonly string[]>()
  for (const [name, address] of hosts) {
    if (!PLAIN_HOST.test(name) || !PLAIN_HOST.test(address)) continue
    byAddress.set(address, [...(byAddress.get(address) ?? []), name])
  }
  const blocks: string[] = []
  const lines: string[] = []
  for (const [address, names] of byAddress) {
    const alias = names.join('+')
    // Otherwise a host could present a key of another type than the known one.
    const checking = names.every((name) => getOwn(keys, name)) ? 'yes' : 'accept-new'
    blocks.push(`Host ${address}\n  HostKeyAlias ${alias}\n  StrictHostKeyChecking ${checking}\n`)
    lines.push(...names.flatMap((name) => (getOwn(keys, name) ?? []).map((key) => `${alias} ${key}\n`)))
  }
  const common = [
    `UserKnownHostsFile "${knownHostsPath}"`,
    'StrictHostKeyChecking accept-new',
    'HashKnownHosts no',
    'UpdateHostKeys no',
    'CheckHostIP no',
    // The first value of an option counts: jump hosts and the like of this machine still work.
    'Include ~/.ssh/config',
    'Include /etc/ssh/ssh_config',
  ]
  return { config: `${blocks.join('')}Host *\n  ${common.join('\n  ')}\n`, knownHosts: lines.join('') }
}

/** The keys in the file after a run, which ssh extends. Those of hosts that share an address are left out. */
export function parseKnownHosts(knownHosts: string): HostKeys {
  const found = emptyRecord<readonly string[]>()
  for (const line of knownHosts.split('\n')) {
    const [name = ''] = line.split(' ')
    const keys = parseHostKeys(line)
    if (name !== '' && !name.includes('+') && keys.length > 0) found[name] = [...(found[name] ?? []), ...keys]
  }
  return found
}

/** What ssh said about a refused key; undefined for other text. */
export function parseRefusedKey(text: string): { readonly sent: string } | undefined {
  if (!text.includes('Host key verification failed')) return undefined
  const fingerprint = /fingerprint for the (\w+) key sent by the remote host is(?:\s|\\[rn])+(SHA256:[\w+/]+)/.exec(
    text,
  )
  return { sent: fingerprint ? `${fingerprint[1]} ${fingerprint[2]}` : 'a key of another type' }
}

/** One line for a condition, with the way out. */
export function formatRefusedKey(host: string, sent: string): string {
  const { code, message, remedy } = finding(hostKeyChanged, { host, sent })
  return `${code}: ${message}; ${remedy}`
}
