/** Boots a machine of an image once and saves it, so that every node of a rehearsal starts from there in seconds. */
import { createHash } from 'node:crypto'
import { access, constants, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { lastLines, succeeded } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../../sandbox/build/cache-folder.ts'
import type { BuildContext } from '../../sandbox/build/ensure-programs.ts'
import { openEnclosure } from '../enclosure.ts'
import { machineFailed, partFailed } from '../findings.ts'
import type { NodeImage } from '../image/node-image.ts'
import { markUsed } from '../image/unused-folders.ts'
import { saveMachine, startMachine } from './machine.ts'
import { type Accelerator, type MachineFiles, machineHardware, QEMU } from './machine-args.ts'

export interface SavedMachine extends MachineFiles {
  readonly accelerator: Accelerator
  readonly restoreFrom: string
}

/** Without KVM and on a busy machine; a machine that ends is noticed at once. */
const BOOT_MS: Readonly<Record<Accelerator, number>> = { kvm: 60_000, tcg: 900_000 }

/** Before it is saved: drivers and programs that every node needs are in memory. */
const PREPARE = [
  'systemctl is-system-running --wait >/dev/null',
  'for module in virtio_net 8021q bridge macvlan bonding veth nf_tables nft_chain_nat nft_redir; do modprobe $module; done',
  // The other programs are large: what is not used of them must not take memory.
  'cd /opt/cni/bin && cat /usr/bin/nmstatectl /usr/sbin/NetworkManager /usr/bin/ping /bin/busybox bridge macvlan static >/dev/null',
  'sync',
].join('\n')

/** `isEmulated`: without KVM, also where it works. */
export async function ensureSavedMachine(
  image: NodeImage,
  context: BuildContext,
  { isEmulated = false }: { readonly isEmulated?: boolean } = {},
): Promise<SavedMachine> {
  if (isEmulated) return ensureMachine(image, 'tcg', context)
  const { paths, notify, signal } = context
  const failed = path.join(paths.cache, 'rehearse', 'kvm-failed')
  const boot = await readText('/proc/sys/kernel/random/boot_id')
  // One failure counts until the next boot: the attempt takes a minute.
  if ((await mayUseKvm()) && (boot === '' || (await readText(failed)) !== boot)) {
    // KVM may exist and not work, in a nested machine for example: the proof is a machine that boots.
    try {
      return await ensureMachine(image, 'kvm', context)
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof Error)) throw error
      notify({ kind: 'progress', text: 'KVM does not work here: nodes are emulated' })
      await writeFile(failed, boot)
    }
  }
  return ensureMachine(image, 'tcg', context)
}

function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

async function mayUseKvm(): Promise<boolean> {
  return access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  )
}

async function ensureMachine(image: NodeImage, accelerator: Accelerator, context: BuildContext): Promise<SavedMachine> {
  const { notify, signal, paths, exec } = context
  const { stdout: version } = await exec({ file: QEMU, args: ['--version'] })
  const content = JSON.stringify([image.key, machineHardware(accelerator), version, PREPARE])
  const key = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const folder = path.join(paths.cache, 'rehearse', `machine-${accelerator}-${key}`)
  const waiting = 'waiting for another process that boots the first node'
  await ensureFolder(folder, { what: 'the saved machine', waiting, notify, signal }, () =>
    publishFolder(folder, (temporary) => bootAndSave(image, accelerator, temporary, context)),
  )
  await markUsed(folder)
  const { kernel, initrd } = image
  const file = (name: string): string => path.join(folder, name)
  return { accelerator, kernel, initrd, disk: file('disk.qcow2'), restoreFrom: file('memory') }
}

async function bootAndSave(
  image: NodeImage,
  accelerator: Accelerator,
  folder: string,
  { notify, signal }: BuildContext,
): Promise<void> {
  const disk = path.join(folder, 'disk.qcow2')
  const enclosure = await openEnclosure()
  try {
    // Relative to the disk, so that the cache can be moved.
    const base = path.join('..', path.basename(image.folder), path.basename(image.disk))
    const args = ['create', '-q', '-f', 'qcow2', '-b', base, '-F', 'qcow2', disk]
    const created = await enclosure.exec({ file: 'qemu-img', args })
    if (!succeeded(created.exit)) {
      throw failure(partFailed, { part: 'the disk of a node', reason: lastLines(created.stderr) })
    }
    const { kernel, initrd } = image
    notify({ kind: 'progress', text: `booting the first node (${accelerator}); later runs restore it in seconds` })
    const machine = await startMachine(enclosure, {
      name: 'first',
      accelerator,
      kernel,
      initrd,
      disk,
      writable: true,
      signal,
      timeoutMs: BOOT_MS[accelerator],
    })
    const { code, output } = await machine.agent.run(PREPARE, { signal })
    if (code !== 0) throw failure(machineFailed, { name: 'first', reason: lastLines(output) })
    machine.agent.close()
    notify({ kind: 'progress', text: 'saving the first node' })
    await saveMachine(machine, path.join(folder, 'memory'), signal)
  } finally {
    await enclosure.close()
  }
}
