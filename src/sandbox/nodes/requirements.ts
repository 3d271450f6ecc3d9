/** Checks that this machine can run nodes, and names the Debian packages with what is missing. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { type Finding, finding } from '../../errors/finding.ts'
import { podProgramsMissing, podsUnavailable } from '../findings.ts'
import { findCgroupHierarchies } from './cgroups.ts'

/** Programs with their Debian packages. */
const programs: readonly { readonly name: string; readonly package: string }[] = [
  { name: 'containerd', package: 'containerd' },
  { name: 'ctr', package: 'containerd' },
  { name: 'runc', package: 'runc' },
  { name: 'nft', package: 'nftables' },
  { name: 'ip', package: 'iproute2' },
  { name: 'mount', package: 'mount' },
  { name: 'unshare', package: 'util-linux' },
  { name: 'nsenter', package: 'util-linux' },
]

export interface HostFacts {
  readonly platform: string
  readonly isRoot: boolean
  /** Mount points of cgroup hierarchies. */
  readonly cgroups: readonly string[]
  /** Programs that are not in PATH. */
  readonly missing: readonly string[]
}

/** Pure: why no nodes can run here; empty if they can. */
export function judgeHost({ platform, isRoot, cgroups, missing }: HostFacts): readonly Finding[] {
  if (platform !== 'linux') return [finding(podsUnavailable, { reason: `this is ${platform}, not Linux` })]
  if (!isRoot) return [finding(podsUnavailable, { reason: 'this user is not root' })]
  const lacking = programs.filter(({ name }) => missing.includes(name))
  const packages = [...new Set(lacking.map((program) => program.package))]
  return [
    ...(cgroups.length > 0 ? [] : [finding(podsUnavailable, { reason: 'no cgroup hierarchy is mounted' })]),
    ...(lacking.length > 0
      ? [finding(podProgramsMissing, { programs: lacking.map(({ name }) => name), packages })]
      : []),
  ]
}

export async function readHostFacts(env: Readonly<Record<string, string | undefined>>): Promise<HostFacts> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter(Boolean)
  const missing: string[] = []
  for (const { name } of programs) {
    const found = await Promise.all(folders.map((folder) => isExecutable(path.join(folder, name))))
    if (!found.includes(true)) missing.push(name)
  }
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    cgroups: await findCgroupHierarchies(),
    missing,
  }
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
