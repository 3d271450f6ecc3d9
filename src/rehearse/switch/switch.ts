/** Runs the switches of a rehearsal: Open vSwitch in user space, in the enclosure, so that the kernel needs only `tun`. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, type Program, type RunningProcess, succeeded } from '../../exec/process.ts'
import type { AddressRange } from '../../plan/plan.ts'
import type { Enclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import type { Switch } from '../topology.ts'
import {
  bridgeName,
  dhcpSettings,
  type Plug,
  plugArgs,
  plugLines,
  plugPorts,
  switchArgs,
  tapLines,
} from './switch-commands.ts'
import {
  type ForwardingEntry,
  parseForwarding,
  parseMtus,
  parsePorts,
  type SwitchObservation,
} from './switch-observation.ts'

export interface RunningSwitch {
  /** Connects two VLANs of a switch, or a machine. */
  readonly plug: (plug: Plug) => Promise<void>
  /** What the ports of the switches with these roles have carried so far. */
  readonly observe: (roles: readonly string[]) => Promise<SwitchObservation>
}

/** `folder` has the unpacked packages. */
export async function startSwitch(
  enclosure: Enclosure,
  folder: string,
  switches: readonly Switch[],
  signal?: AbortSignal,
): Promise<RunningSwitch> {
  const { inside } = enclosure
  const env = {
    LD_LIBRARY_PATH: path.join(folder, 'usr/lib/x86_64-linux-gnu'),
    OVS_RUNDIR: inside('.'),
    OVS_LOGDIR: inside('.'),
    OVS_DBDIR: inside('.'),
    OVS_SYSCONFDIR: inside('.'),
    OVS_PKGDATADIR: path.join(folder, 'usr/share/openvswitch'),
  }
  const program = (file: string, ...args: readonly string[]): Program => ({ file: path.join(folder, file), args, env })
  const run = async (started: Program): Promise<string> => {
    const { exit, stdout, stderr } = await enclosure.exec(started, signal ? { signal } : {})
    if (succeeded(exit)) return stdout
    signal?.throwIfAborted()
    throw failure(partFailed, { part: 'the switch', reason: lastLines(stderr) || describeExit(exit) })
  }
  const database = `unix:${inside('switch.sock')}`
  const configure = (args: readonly string[]): Promise<string> =>
    run(program('usr/bin/ovs-vsctl', `--db=${database}`, '--timeout=60', '--no-syslog', ...args))

  await run({ file: 'ip', args: ['-batch', '-'], input: tapLines(switches) })
  // The machines beside the nodes share this namespace: each answers only where its address is.
  await run({ file: 'sh', args: ['-c', 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore'] })
  const schema = path.join(folder, 'usr/share/openvswitch/vswitch.ovsschema')
  await run(program('usr/bin/ovsdb-tool', 'create', inside('switch.db'), schema))
  const quiet = ['-vconsole:off', '-vsyslog:off', '--no-chdir']
  const server = enclosure.start(
    program(
      'usr/sbin/ovsdb-server',
      inside('switch.db'),
      `--remote=p${database}`,
      `--unixctl=${inside('switch-db.ctl')}`,
      ...quiet,
      `--log-file=${inside('switch-db.log')}`,
    ),
  )
  await waitUntil(server, () => configure(['--no-wait', '--retry', 'init']), signal)
  const daemon = enclosure.start(
    program(
      'usr/lib/openvswitch-switch/ovs-vswitchd',
      database,
      `--unixctl=${inside('switch.ctl')}`,
      ...quiet,
      `--log-file=${inside('switch.log')}`,
    ),
  )
  // Waits until the daemon has what the database says.
  await waitUntil(daemon, () => configure(switchArgs(switches)), signal)
  const indexOf = (role: string): number => switches.findIndex((switchOfRole) => switchOfRole.role === role)
  const lend = async (plug: Plug, range: AddressRange): Promise<void> => {
    const file = `${plug.name}.dhcp`
    const leases = `${plug.name}.leases`
    await writeFile(enclosure.outside(leases), '')
    await writeFile(enclosure.outside(file), dhcpSettings(plug, range, inside(leases)))
    enclosure.start(program('bin/busybox', 'udhcpd', '-f', inside(file)))
  }
  return {
    plug: async (plug) => {
      await run({ file: 'ip', args: ['-batch', '-'], input: plugLines(plug) })
      // The switch in user space passes on segments without a checksum, which nodes drop.
      for (const end of plugPorts(plug)) await run(program('sbin/ethtool', '-K', end, 'tx', 'off'))
      await configure(plugArgs(bridgeName(indexOf(plug.role)), plug))
      if (plug.kind === 'machine' && plug.lends) await lend(plug, plug.lends)
    },
    observe: async (roles) => {
      const numbers = parsePorts(await configure(['--format=json', '--columns=name,ofport', 'list', 'Interface']))
      const forwarding: ForwardingEntry[] = []
      const switchOfPort = new Map<string, string>()
      for (const [index, { role }] of switches.entries()) {
        if (!roles.includes(role)) continue
        const bridge = bridgeName(index)
        const names = (await configure(['list-ifaces', bridge])).split('\n').filter(Boolean)
        for (const name of names) switchOfPort.set(name, role)
        const shown = await run(program('usr/bin/ovs-appctl', `--target=${inside('switch.ctl')}`, 'fdb/show', bridge))
        forwarding.push(...parseForwarding(shown, numbers, names))
      }
      const links = await run({ file: 'ip', args: ['-json', 'link', 'show'] })
      return { forwarding, mtus: parseMtus(links), switchOfPort }
    },
  }
}

/** Fails early when the program ends. */
async function waitUntil(process: RunningProcess, ready: () => Promise<unknown>, signal?: AbortSignal): Promise<void> {
  const ended = process.exit.then((status) => {
    throw failure(partFailed, { part: 'the switch', reason: `Open vSwitch ${describeExit(status)}` })
  })
  // Raced only until it is ready; a later end is not an unhandled rejection.
  ended.catch(() => undefined)
  await Promise.race([ready(), ended])
  signal?.throwIfAborted()
}
