/**
 * Builds the root file system of hosts once, from Debian packages, into the user's cache. Hosts share it as the read-only layer
 * under their own files.
 */
import { createHash } from 'node:crypto'
import { rename, stat } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { toProgram } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../build/cache-folder.ts'
import { type DebianSources, mmdebstrapArgs, readDebianSources, runBuildStep } from '../build/debian-root.ts'
import type { BuildContext } from '../build/ensure-programs.ts'
import type { SandboxPaths } from '../sandbox-context.ts'
import { rootFileSystemFailed } from './findings.ts'
import { hostPackages } from './host-packages.ts'

export interface RootFileSystemRequest {
  readonly name: string
  readonly packages: readonly string[]
}

/** The one of OpenStack's services and of data plane hosts. */
export const openstackRoot: RootFileSystemRequest = { name: 'openstack', packages: hostPackages }

/** Increase when the same packages give another result. */
const FORMAT_VERSION = 1

/** Nothing is started while packages are installed, and a host gets its own keys, names and resolvers. */
const ESSENTIAL_HOOK =
  'printf "#!/bin/sh\\nexit 101\\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"'
const CUSTOMIZE_HOOK = 'rm -f "$1"/etc/ssh/ssh_host_*; : >"$1/etc/resolv.conf"; : >"$1/etc/machine-id"'

const options = [
  '--aptopt=APT::Install-Recommends "false"',
  '--aptopt=Acquire::Languages "none"',
  ...['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
  '--dpkgopt=force-unsafe-io',
  `--essential-hook=${ESSENTIAL_HOOK}`,
  `--customize-hook=${CUSTOMIZE_HOOK}`,
]

const ROOT = 'root'

/** Takes about ten minutes the first time. Returns the folder that becomes `/` of a host. */
export async function ensureRootFileSystem(request: RootFileSystemRequest, context: BuildContext): Promise<string> {
  const { paths, notify, signal } = context
  const sources = await readDebianSources()
  const folder = locate(request, sources, paths)
  const what = `the root file system ${request.name}`
  const waiting = `waiting for another process that builds ${what}`
  await ensureFolder(folder, { what, waiting, notify, signal }, () =>
    publishFolder(folder, (temporary) => build(request, sources, temporary, context), { unchecked: ROOT }),
  )
  return path.join(folder, ROOT)
}

/** The folder if it is in the cache: for tests and demos, which do not build it. */
export async function findRootFileSystem(
  request: RootFileSystemRequest,
  paths: SandboxPaths,
): Promise<string | undefined> {
  const root = path.join(locate(request, await readDebianSources(), paths), ROOT)
  return (await stat(root).catch(() => undefined)) ? root : undefined
}

function locate({ name, packages }: RootFileSystemRequest, { suite }: DebianSources, { cache }: SandboxPaths): string {
  const content = JSON.stringify([FORMAT_VERSION, suite, [...packages].sort(), options])
  const key = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return path.join(cache, 'hosts', `${name}-${key}`)
}

async function build(
  { name, packages }: RootFileSystemRequest,
  sources: DebianSources,
  folder: string,
  { exec, notify, signal }: BuildContext,
): Promise<void> {
  notify({
    kind: 'announcement',
    text:
      `Building the root file system ${name} from Debian ${sources.suite} packages. ` +
      'This is done once and takes about ten minutes and 3 GB of disk.',
  })
  const root = path.join(folder, 'unfinished')
  const args = mmdebstrapArgs({ ...sources, packages, options, root })
  // mmdebstrap mounts file systems in the folder: they and its processes end with this process.
  const isolated = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'mmdebstrap', ...args]
  await runBuildStep({
    exec,
    program: { ...toProgram(['setpriv', '--pdeathsig', 'KILL', '--', ...isolated]), env: { TMPDIR: '/tmp' } },
    text: `root file system ${name}`,
    folder: path.dirname(folder),
    notify,
    signal,
    onFailure: (reason) => failure(rootFileSystemFailed, { name, reason }),
  })
  await rename(root, path.join(folder, ROOT))
}
