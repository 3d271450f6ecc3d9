/**
 * Provides Open vSwitch, and busybox for its DHCP server, without installing them: their Debian packages are downloaded with
 * apt and unpacked into the user's cache. Nothing of them is configured or started on this machine.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, type ProcessResult, succeeded } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../../sandbox/build/cache-folder.ts'
import type { BuildContext } from '../../sandbox/build/ensure-programs.ts'
import { partFailed } from '../findings.ts'

const switchPackages: readonly string[] = ['openvswitch-switch', 'openvswitch-common', 'libxdp1', 'busybox-static']

/** The folder with the unpacked packages. */
export async function ensureOpenVswitch(context: BuildContext): Promise<string> {
  const { paths, exec, notify, signal } = context
  const key = createHash('sha256').update(switchPackages.join()).digest('hex').slice(0, 16)
  const folder = path.join(paths.cache, 'rehearse', `open-vswitch-${key}`)
  const options = signal ? { signal } : {}
  const check = ({ exit, stderr }: ProcessResult): void => {
    if (succeeded(exit)) return
    signal?.throwIfAborted()
    throw failure(partFailed, { part: 'Open vSwitch', reason: lastLines(stderr) || describeExit(exit) })
  }
  const waiting = 'waiting for another process that downloads Open vSwitch'
  return ensureFolder(folder, { what: 'Open vSwitch', waiting, notify, signal }, () =>
    publishFolder(folder, async (temporary) => {
      notify({ kind: 'progress', text: 'downloading Open vSwitch' })
      const debs = path.join(temporary, 'debs')
      await mkdir(debs)
      // apt would give the files to a user that cannot write into the cache.
      const args = ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...switchPackages]
      check(await exec({ file: 'apt-get', args, cwd: debs }, options))
      for (const name of await readdir(debs)) {
        check(await exec({ file: 'dpkg', args: ['-x', path.join(debs, name), temporary] }, options))
      }
      await rm(debs, { recursive: true })
    }),
  )
}
