/**
 * Provides programs without installing them: their Debian packages are downloaded with apt and unpacked into the user's cache.
 * Nothing of them is configured or started on this machine.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, type ProcessResult, succeeded } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../../sandbox/build/cache-folder.ts'
import type { BuildContext } from '../../sandbox/build/ensure-programs.ts'
import { partFailed } from '../findings.ts'

interface PackageSet {
  readonly name: string
  /** In the cache. */
  readonly folder: string
  readonly packages: readonly string[]
}

/** busybox has a DHCP server and arping. */
const openVswitch: PackageSet = {
  name: 'Open vSwitch',
  folder: 'open-vswitch',
  packages: ['openvswitch-switch', 'openvswitch-common', 'libxdp1', 'busybox-static', 'ethtool', 'libmnl0'],
}

const frr: PackageSet = { name: 'FRR', folder: 'frr', packages: ['frr', 'libyang2', 'libc-ares2'] }

/** The folder with the unpacked packages. */
export function ensureOpenVswitch(context: BuildContext): Promise<string> {
  return ensureUnpacked(openVswitch, context)
}

/** The folder with the unpacked packages. */
export function ensureFrr(context: BuildContext): Promise<string> {
  return ensureUnpacked(frr, context)
}

function ensureUnpacked({ name, folder: prefix, packages }: PackageSet, context: BuildContext): Promise<string> {
  const { paths, exec, notify, signal } = context
  const key = createHash('sha256').update(packages.join()).digest('hex').slice(0, 16)
  const folder = path.join(paths.cache, 'rehearse', `${prefix}-${key}`)
  const options = signal ? { signal } : {}
  const check = ({ exit, stderr }: ProcessResult): void => {
    if (succeeded(exit)) return
    signal?.throwIfAborted()
    throw failure(partFailed, { part: name, reason: lastLines(stderr) || describeExit(exit) })
  }
  const waiting = `waiting for another process that downloads ${name}`
  return ensureFolder(folder, { what: name, waiting, notify, signal }, () =>
    publishFolder(folder, async (temporary) => {
      notify({ kind: 'progress', text: `downloading ${name}` })
      const debs = path.join(temporary, 'debs')
      await mkdir(debs)
      // apt would give the files to a user that cannot write into the cache.
      const args = ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...packages]
      check(await exec({ file: 'apt-get', args, cwd: debs }, options))
      for (const file of await readdir(debs)) {
        check(await exec({ file: 'dpkg', args: ['-x', path.join(debs, file), temporary] }, options))
      }
      await rm(debs, { recursive: true })
    }),
  )
}
