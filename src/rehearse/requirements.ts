/** Checks that this machine can run a rehearsal, and names the Debian packages with what is missing. */
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { type Finding, finding } from '../errors/finding.ts'
import { machineUnfit, programsMissing } from './findings.ts'

/** Programs with their Debian packages. */
const programs: readonly { readonly name: string; readonly package: string }[] = [
  { name: 'qemu-system-x86_64', package: 'qemu-system-x86' },
  { name: 'qemu-img', package: 'qemu-utils' },
  { name: 'mmdebstrap', package: 'mmdebstrap' },
  { name: 'mke2fs', package: 'e2fsprogs' },
  { name: 'apt-get', package: 'apt' },
  { name: 'dpkg', package: 'dpkg' },
  { name: 'ip', package: 'iproute2' },
  { name: 'unshare', package: 'util-linux' },
  { name: 'nsenter', package: 'util-linux' },
]

export interface HostFacts {
  readonly platform: string
  readonly arch: string
  readonly isRoot: boolean
  readonly hasTun: boolean
  readonly missing: readonly string[]
}

const ADD_TUN =
  'load its module with `modprobe tun`; a container needs the device of its machine: `--device /dev/net/tun`'

/** Pure: why a rehearsal cannot run here; empty if it can. */
export function judgeHost({ platform, arch, isRoot, hasTun, missing }: HostFacts): readonly Finding[] {
  if (platform !== 'linux') return [finding(machineUnfit, { reason: `this is ${platform}, not Linux` })]
  if (arch !== 'x64') return [finding(machineUnfit, { reason: `the processor is ${arch}; the nodes are x86_64` })]
  const lacking = programs.filter(({ name }) => missing.includes(name))
  const packages = [...new Set(lacking.map((program) => program.package))]
  return [
    ...(isRoot ? [] : [finding(machineUnfit, { reason: 'this user is not root' })]),
    // Other users may not open it, so it says nothing about them.
    ...(hasTun || !isRoot ? [] : [finding(machineUnfit, { reason: 'there is no /dev/net/tun', remedy: ADD_TUN })]),
    ...(lacking.length > 0 ? [finding(programsMissing, { programs: lacking.map(({ name }) => name), packages })] : []),
  ]
}

export async function readHostFacts(env: Readonly<Record<string, string | undefined>>): Promise<HostFacts> {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter(Boolean)
  const missing: string[] = []
  for (const { name } of programs) {
    const found = await Promise.all(folders.map((folder) => isAccessible(path.join(folder, name), constants.X_OK)))
    if (!found.includes(true)) missing.push(name)
  }
  return {
    platform: process.platform,
    arch: process.arch,
    isRoot: process.getuid?.() === 0,
    hasTun: await isAccessible('/dev/net/tun', constants.R_OK | constants.W_OK),
    missing,
  }
}

function isAccessible(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  )
}
