/**
 * What may have gone wrong in a rendered tree since it was written: an inventory that lost groups, variables without
 * effect, Terraform where it must not be, secrets that others can read or that git knows. Pure, over what was read.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { readYaml } from '../../yaml/read.ts'
import { addressOnRawPort } from '../findings/lab-file.ts'
import {
  forbiddenTerraform,
  groupMissing,
  ineffectiveVariables,
  secretReadable,
  secretTracked,
} from '../findings/rendered-tree.ts'
import { allGroups } from '../kolla/release.ts'
import type { Lab } from '../lab.ts'
import { toolSecrets } from '../secret-paths.ts'

export interface RenderedTree {
  /** Every file of the tree, relative. */
  readonly files: readonly string[]
  readonly read: (path: string) => string | undefined
  /** The permission bits of a file. */
  readonly mode: (path: string) => number | undefined
  /** What git tracks; empty outside a repository. */
  readonly tracked: readonly string[]
}

export function checkTree(lab: Lab, view: RenderedTree): readonly Finding[] {
  return [...inventory(view), ...groupVars(view), ...terraform(view), ...secrets(view), ...rawPorts(lab, view)]
}

const atLine = (file: string, line = 1) => ({ where: { file, line, column: 1 } })

function inventory({ read }: RenderedTree): readonly Finding[] {
  const file = 'kolla/multinode'
  const text = read(file)
  if (text === undefined) return []
  const found: Finding[] = []
  const groups = new Set<string>()
  text.split('\n').forEach((line, at) => {
    const [, name, kind] = /^\[([^\]:]+)(?::(\w+))?\]/.exec(line) ?? []
    if (name === undefined) return
    groups.add(name)
    if (kind === 'vars')
      found.push(finding(ineffectiveVariables, { place: `[${name}:vars] in ${file}` }, atLine(file, at + 1)))
  })
  const missing = allGroups.filter((group) => !groups.has(group))
  if (missing.length > 0) found.push(finding(groupMissing, { groups: missing }, atLine(file)))
  return found
}

function groupVars({ files }: RenderedTree): readonly Finding[] {
  return files
    .filter((file) => /^kolla\/group_vars\/all(\.ya?ml|\/|$)/.test(file))
    .map((file) => finding(ineffectiveVariables, { place: file }, atLine(file)))
}

/** Providers and resources of machines, not of a cloud. */
const VM_LAYER =
  /(multipass|lima|libvirt|virtualbox|vagrant|tart|docker)_\w+|provider\s+"(multipass|lima|libvirt|virtualbox|tart)"/

function terraform({ files, read }: RenderedTree): readonly Finding[] {
  return files
    .filter((file) => /\.tf(\.json)?$/.test(file) && !file.includes('/.terraform/'))
    .flatMap((file) => {
      const found: Finding[] = []
      if (!file.startsWith('terraform/openstack/')) {
        const facts = { what: file, why: 'Terraform has no place outside terraform/openstack' }
        found.push(finding(forbiddenTerraform, facts, atLine(file)))
      }
      ;(read(file) ?? '').split('\n').forEach((line, at) => {
        const isNull = /\bnull_resource\b/.test(line) && !/^\s*#/.test(line)
        const machine = VM_LAYER.exec(line)?.[0]
        const why = isNull ? 'its commands are in no plan' : machine ? 'VMs are made by Lima' : undefined
        if (why === undefined) return
        const facts = { what: isNull ? 'null_resource' : (machine ?? ''), why }
        found.push(finding(forbiddenTerraform, facts, atLine(file, at + 1)))
      })
      return found
    })
}

const SECRET = [
  /^kolla\/passwords\.yml$/,
  /^kolla\/certificates\/.*(key|haproxy.*)\.?(pem|key)$/,
  /^kolla\/config\/.*(key\.pem|\.keyring)$/,
  /^ceph\/keyrings\//,
  /^ssh\/id_ed25519$/,
  /\.tfstate(\.backup)?$/,
]

export function isSecretPath(file: string): boolean {
  return SECRET.some((pattern) => pattern.test(file)) || (toolSecrets as readonly string[]).includes(file)
}

function secrets({ files, mode, tracked }: RenderedTree): readonly Finding[] {
  const open = files.filter(isSecretPath).flatMap((file) => {
    const bits = mode(file)
    // Tools write their own files with their own modes; ours are for the owner alone.
    const ours = !(toolSecrets as readonly string[]).includes(file) && !file.includes('.tfstate')
    if (bits === undefined || !ours || (bits & 0o077) === 0) return []
    const octal = `0${(bits & 0o777).toString(8)}`
    return [finding(secretReadable, { file, mode: octal }, atLine(file))]
  })
  const known = tracked.filter(isSecretPath).map((file) => finding(secretTracked, { file }, atLine(file)))
  return [...open, ...known]
}

/** A netplan that somebody edited may give the raw port an address. */
function rawPorts(lab: Lab, { files, read }: RenderedTree): readonly Finding[] {
  const raw = lab.networks.external.interface
  return files
    .filter((file) => /^lima\/[^/]+\.yaml$/.test(file) && file !== 'lima/networks.yaml')
    .flatMap((file) => {
      const { value } = readYaml(read(file) ?? '', file)
      const provision = (value as { provision?: readonly { path?: string; content?: string }[] } | null)?.provision
      const netplan = provision?.find((one) => one.path?.startsWith('/etc/netplan/'))?.content ?? ''
      const parsed = readYaml(netplan, file).value as {
        network?: { ethernets?: Record<string, { addresses?: readonly string[] }> }
      } | null
      const address = parsed?.network?.ethernets?.[raw]?.addresses?.[0]
      if (address === undefined) return []
      return [finding(addressOnRawPort, { node: file, interface: raw, address }, atLine(file))]
    })
}
