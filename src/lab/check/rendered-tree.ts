/**
 * Checks a rendered tree that users may have changed: missing inventory groups, variables without effect, Terraform
 * outside its folder, readable or tracked secrets. Pure.
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
import { isSecretPath, isWrittenByTool } from '../secret-paths.ts'

export interface RenderedTree {
  /** All files, relative to the tree. */
  readonly files: readonly string[]
  readonly read: (path: string) => string | undefined
  readonly mode: (path: string) => number | undefined
  /** Files that git tracks; empty outside a repository. */
  readonly tracked: readonly string[]
}

export function checkTree(lab: Lab, tree: RenderedTree): readonly Finding[] {
  return [
    ...checkInventory(tree),
    ...checkGroupVars(tree),
    ...checkTerraform(tree),
    ...checkSecrets(tree),
    ...checkRawPorts(lab, tree),
  ]
}

const atLine = (file: string, line = 1) => ({ where: { file, line, column: 1 } })

function checkInventory({ read }: RenderedTree): readonly Finding[] {
  const file = 'kolla/multinode'
  const text = read(file)
  if (text === undefined) return []
  const found: Finding[] = []
  const groups = new Set<string>()
  text.split('\n').forEach((line, index) => {
    const [, name, kind] = /^\[([^\]:]+)(?::(\w+))?\]/.exec(line) ?? []
    if (name === undefined) return
    groups.add(name)
    if (kind === 'vars')
      found.push(finding(ineffectiveVariables, { place: `[${name}:vars] in ${file}` }, atLine(file, index + 1)))
  })
  const missing = allGroups.filter((group) => !groups.has(group))
  if (missing.length > 0) found.push(finding(groupMissing, { groups: missing }, atLine(file)))
  return found
}

function checkGroupVars({ files }: RenderedTree): readonly Finding[] {
  return files
    .filter((file) => /^kolla\/group_vars\/all(\.ya?ml|\/|$)/.test(file))
    .map((file) => finding(ineffectiveVariables, { place: file }, atLine(file)))
}

/** Providers and resources that create VMs. */
const VM_LAYER =
  /(multipass|lima|libvirt|virtualbox|vagrant|tart|docker)_\w+|provider\s+"(multipass|lima|libvirt|virtualbox|tart)"/

function checkTerraform({ files, read }: RenderedTree): readonly Finding[] {
  return files
    .filter((file) => /\.tf(\.json)?$/.test(file) && !file.includes('/.terraform/'))
    .flatMap((file) => {
      const found: Finding[] = []
      if (!file.startsWith('terraform/openstack/')) {
        const facts = { what: file, why: 'Terraform files are allowed in terraform/openstack only' }
        found.push(finding(forbiddenTerraform, facts, atLine(file)))
      }
      ;(read(file) ?? '').split('\n').forEach((line, index) => {
        const isNull = /\bnull_resource\b/.test(line) && !/^\s*#/.test(line)
        const vmResource = VM_LAYER.exec(line)?.[0]
        const why = isNull ? 'its commands are in no plan' : vmResource ? 'Lima creates the VMs' : undefined
        if (why === undefined) return
        const facts = { what: isNull ? 'null_resource' : (vmResource ?? ''), why }
        found.push(finding(forbiddenTerraform, facts, atLine(file, index + 1)))
      })
      return found
    })
}

function checkSecrets({ files, mode, tracked }: RenderedTree): readonly Finding[] {
  const rendered = files.filter((file) => isSecretPath(file) && !isWrittenByTool(file))
  const readable = rendered.flatMap((file) => {
    const bits = mode(file)
    if (bits === undefined || (bits & 0o077) === 0) return []
    const octal = `0${(bits & 0o777).toString(8)}`
    return [finding(secretReadable, { file, mode: octal }, atLine(file))]
  })
  const inGit = tracked.filter(isSecretPath).map((file) => finding(secretTracked, { file }, atLine(file)))
  return [...readable, ...inGit]
}

/** An edited netplan may give the raw port an address. */
function checkRawPorts(lab: Lab, { files, read }: RenderedTree): readonly Finding[] {
  const raw = lab.networks.external.interface
  return files
    .filter((file) => /^lima\/[^/]+\.yaml$/.test(file) && file !== 'lima/networks.yaml')
    .flatMap((file) => {
      const { value } = readYaml(read(file) ?? '', file)
      const provision = (value as { provision?: readonly { path?: string; content?: string }[] } | null)?.provision
      const netplan = provision?.find(({ path }) => path?.startsWith('/etc/netplan/'))?.content ?? ''
      const parsed = readYaml(netplan, file).value as {
        network?: { ethernets?: Record<string, { addresses?: readonly string[] }> }
      } | null
      const address = parsed?.network?.ethernets?.[raw]?.addresses?.[0]
      if (address === undefined) return []
      return [finding(addressOnRawPort, { node: file, interface: raw, address }, atLine(file))]
    })
}
