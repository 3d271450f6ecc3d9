/** Checks that this machine can run nodes, and names the Debian packages with what is missing. */
import { type Finding, finding } from '../../errors/finding.ts'
import { podProgramsMissing, podsUnavailable } from '../findings.ts'
import { describeMissing, findMissingPrograms, type MachineProgram } from '../machine-programs.ts'
import { findCgroupHierarchies, findMissingControllers } from './cgroups.ts'

/** Programs with their Debian packages. */
const programs: readonly MachineProgram[] = [
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
  /** Controllers that a new cgroup would lack. */
  readonly missingControllers: readonly string[]
  /** Programs that are not in PATH. */
  readonly missing: readonly string[]
}

/** Pure: why no nodes can run here; empty if they can. */
export function judgeHost(facts: HostFacts): readonly Finding[] {
  const { platform, isRoot, missing } = facts
  if (platform !== 'linux') return [finding(podsUnavailable, { reason: `this is ${platform}, not Linux` })]
  if (!isRoot) return [finding(podsUnavailable, { reason: 'this user is not root' })]
  const lacking = programs.filter(({ name }) => missing.includes(name))
  const cgroupProblem = findCgroupProblem(facts)
  return [
    ...(cgroupProblem === undefined ? [] : [finding(podsUnavailable, { reason: cgroupProblem })]),
    ...(lacking.length > 0 ? [finding(podProgramsMissing, describeMissing(lacking))] : []),
  ]
}

function findCgroupProblem({ cgroups, missingControllers }: HostFacts): string | undefined {
  if (cgroups.length === 0) return 'no cgroup hierarchy is mounted'
  if (missingControllers.length === 0) return undefined
  return `new cgroups get no controllers ${missingControllers.join(', ')}; in a container, its processes must leave the root cgroup`
}

export async function readHostFacts(env: Readonly<Record<string, string | undefined>>): Promise<HostFacts> {
  const cgroups = await findCgroupHierarchies()
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    cgroups,
    missingControllers: await findMissingControllers(cgroups),
    missing: (await findMissingPrograms(programs, env)).map(({ name }) => name),
  }
}
