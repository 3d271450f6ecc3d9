/** Checks that this machine can run nodes, and names the Debian packages with what is missing. */
import { type Finding, finding } from '../../errors/finding.ts'
import { describeExit, type Exec, lastLines, runProcess, succeeded } from '../../exec/process.ts'
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

/** What nodes need of the kernel, each with a command that fails without it. The namespaces in which they run end with them. */
const kernelFeatures: Readonly<Record<string, string>> = {
  'overlay file systems': `mount -t tmpfs tmpfs /run && mkdir /run/upper /run/work &&
    mount -t overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work overlay /etc`,
  'bridge interfaces': 'ip link add probe0 type bridge',
  'veth interfaces': 'ip link add probe1 type veth peer name probe2',
  'macvlan interfaces': 'ip link add probe3 link probe1 type macvlan',
  nftables: 'nft add table ip probe',
}

export interface HostFacts {
  readonly platform: string
  readonly isRoot: boolean
  /** Mount points of cgroup hierarchies. */
  readonly cgroups: readonly string[]
  /** Controllers that a new cgroup would lack. */
  readonly missingControllers: readonly string[]
  /** Programs that are not in PATH. */
  readonly missing: readonly string[]
  /** Why the kernel cannot run nodes; undefined if it can, or if it was not tried. */
  readonly kernelProblem?: string | undefined
}

/** Pure: why no nodes can run here; empty if they can. */
export function judgeHost(facts: HostFacts): readonly Finding[] {
  const { platform, isRoot, missing } = facts
  if (platform !== 'linux') return [finding(podsUnavailable, { reason: `this is ${platform}, not Linux` })]
  if (!isRoot) return [finding(podsUnavailable, { reason: 'this user is not root' })]
  const lacking = programs.filter(({ name }) => missing.includes(name))
  const reasons = [findCgroupProblem(facts), facts.kernelProblem].filter((reason) => reason !== undefined)
  return [
    ...reasons.map((reason) => finding(podsUnavailable, { reason })),
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
  const isRoot = process.getuid?.() === 0
  const missing = (await findMissingPrograms(programs, env)).map(({ name }) => name)
  return {
    platform: process.platform,
    isRoot,
    cgroups,
    missingControllers: await findMissingControllers(cgroups),
    missing,
    ...(isRoot && missing.length === 0 && { kernelProblem: await findKernelProblem(kernelFeatures, runProcess) }),
  }
}

export async function findKernelProblem(
  features: Readonly<Record<string, string>>,
  exec: Exec,
): Promise<string | undefined> {
  const tries = Object.entries(features).map(([name, command]) => `( ${command} ) >&2 || echo "${name}"`)
  const args = ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', tries.join('\n')]
  const { exit, stdout, stderr } = await exec({ file: 'unshare', args })
  if (!succeeded(exit)) return `namespaces cannot be created: ${lastLines(stderr, 1) || describeExit(exit)}`
  const lacking = stdout.trim().split('\n').filter(Boolean)
  return lacking.length === 0 ? undefined : `the kernel gives it no ${lacking.join(', no ')}`
}
