/** Checks that this machine can run hosts in namespaces, and build their root file system. */
import { type Finding, finding } from '../../errors/finding.ts'
import { describeMissing, findMissingPrograms, type MachineProgram } from '../machine-programs.ts'
import { hostProgramsMissing, hostsUnavailable } from './findings.ts'

const programs: readonly MachineProgram[] = [
  { name: 'mmdebstrap', package: 'mmdebstrap' },
  { name: 'ip', package: 'iproute2' },
  { name: 'mount', package: 'mount' },
  { name: 'unshare', package: 'util-linux' },
  { name: 'nsenter', package: 'util-linux' },
  { name: 'setpriv', package: 'util-linux' },
]

export interface MachineFacts {
  readonly platform: string
  readonly isRoot: boolean
  readonly missing: readonly MachineProgram[]
}

/** Pure: why no hosts can run here; empty if they can. */
export function judgeMachine({ platform, isRoot, missing }: MachineFacts): readonly Finding[] {
  if (platform !== 'linux') return [finding(hostsUnavailable, { reason: `this is ${platform}, not Linux` })]
  if (!isRoot) return [finding(hostsUnavailable, { reason: 'this user is not root' })]
  return missing.length > 0 ? [finding(hostProgramsMissing, describeMissing(missing))] : []
}

export async function readMachineFacts(env: Readonly<Record<string, string | undefined>>): Promise<MachineFacts> {
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    missing: await findMissingPrograms(programs, env),
  }
}
