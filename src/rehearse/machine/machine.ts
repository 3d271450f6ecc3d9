/** Starts virtual machines in the enclosure, plugs in their NICs, and saves them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { failure, formatError } from '../../errors/failure.ts'
import { describeExit, lastLines, type RunningProcess } from '../../exec/process.ts'
import type { Enclosure } from '../enclosure.ts'
import { machineFailed } from '../findings.ts'
import { type Agent, openAgent } from './agent.ts'
import { type Accelerator, type MachineFiles, type MachineSockets, machineArgs, QEMU } from './machine-args.ts'
import { openQmp, type Qmp } from './qmp.ts'

export interface Machine {
  readonly name: string
  readonly agent: Agent
  readonly qmp: Qmp
  readonly process: RunningProcess
}

export interface StartRequest extends MachineFiles {
  readonly name: string
  readonly accelerator: Accelerator
  readonly restoreFrom?: string
  readonly writable: boolean
  readonly signal?: AbortSignal | undefined
  /** How long until the agent answers. */
  readonly timeoutMs: number
}

/** The names of its files in the folder of the enclosure. */
export function machineFiles(name: string): MachineSockets {
  return { agent: `${name}.agent`, qmp: `${name}.qmp`, console: `${name}.console`, log: `${name}.log` }
}

/** Starts a machine and waits until its agent answers. */
export async function startMachine(enclosure: Enclosure, request: StartRequest): Promise<Machine> {
  const { name, signal, timeoutMs, ...settings } = request
  const files = machineFiles(name)
  const sockets = {
    agent: enclosure.inside(files.agent),
    qmp: enclosure.inside(files.qmp),
    console: enclosure.inside(files.console),
    log: enclosure.inside(files.log),
  }
  const output: string[] = []
  const args = machineArgs({ ...settings, sockets })
  const process = enclosure.start({ file: QEMU, args }, { onLine: (line) => output.push(line) })
  const end: { reason?: string } = {}
  void process.exit.then((status) => {
    end.reason = `QEMU ${describeExit(status)}`
  })
  const deadline = performance.now() + timeoutMs
  const fail = (reason: string) =>
    failure(machineFailed, { name, reason: [reason, lastLines(output.join('\n'))].filter(Boolean).join(': ') })
  for (;;) {
    signal?.throwIfAborted()
    if (end.reason !== undefined) throw fail(end.reason)
    if (performance.now() > deadline) {
      await process.stop()
      throw fail(`no answer within ${Math.round(timeoutMs / 1000)} s`)
    }
    const qmp = await openQmp(enclosure.outside(files.qmp)).catch(() => undefined)
    if (qmp) {
      try {
        if (settings.restoreFrom !== undefined) await resume(qmp)
        const agent = await openAgent(enclosure.outside(files.agent))
        const timer = AbortSignal.timeout(Math.max(1, Math.ceil(deadline - performance.now())))
        await agent.run('true', { signal: signal ? AbortSignal.any([signal, timer]) : timer })
        return { name, agent, qmp, process }
      } catch (error) {
        signal?.throwIfAborted()
        const reason = end.reason ?? formatError(error)
        await process.stop()
        throw fail(reason)
      }
    }
    await sleep(50)
  }
}

/** A machine was stopped when it was saved. */
async function resume(qmp: Qmp): Promise<void> {
  for (;;) {
    const { status } = (await qmp.execute('query-status')) as { readonly status: string }
    if (status !== 'inmigrate') break
    await sleep(50)
  }
  await qmp.execute('cont')
}

export interface Nic {
  /** Its name on the node: `enp6s0`. */
  readonly name: string
  readonly mac: string
  /** The port of the switch. */
  readonly port: string
  /** The largest MTU that the node may set. */
  readonly maxMtu: number
}

/** Connects a NIC to a port of the switch. `slot` counts from 0. */
export async function plugNic({ qmp }: Machine, { mac, port, maxMtu }: Nic, slot: number): Promise<void> {
  const id = `net${slot}`
  // Without partial checksums, which the switch in user space would pass on.
  await qmp.execute('netdev_add', {
    type: 'tap',
    id,
    ifname: port,
    script: 'no',
    downscript: 'no',
    vnet_hdr: false,
  })
  await qmp.execute('device_add', {
    driver: 'virtio-net-pci',
    id: `card${slot}`,
    netdev: id,
    bus: `nic${slot}`,
    mac,
    host_mtu: maxMtu,
    // LACP leaves out ports whose speed and duplex are unknown, and the switch carries no frame of such a bond.
    speed: 10_000,
    duplex: 'full',
  })
}

/** Writes memory and devices to a file and ends the machine. Its disk must be writable and belongs to the file then. */
export async function saveMachine({ qmp, process }: Machine, file: string, signal?: AbortSignal): Promise<void> {
  await qmp.execute('stop')
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': 4 * 1024 ** 3 })
  await qmp.execute('migrate', { uri: `exec:cat > '${file}'` })
  for (;;) {
    signal?.throwIfAborted()
    const { status } = (await qmp.execute('query-migrate')) as { readonly status: string }
    if (status === 'completed') break
    if (status === 'failed') throw failure(machineFailed, { name: 'to save', reason: 'QEMU could not write its state' })
    await sleep(100)
  }
  await qmp.execute('quit').catch(() => undefined)
  await process.exit
}
