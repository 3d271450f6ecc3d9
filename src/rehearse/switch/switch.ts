/** Runs the switches of a rehearsal: Open vSwitch in user space, in the enclosure, so that the kernel needs only `tun`. */
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, type Program, type RunningProcess, succeeded } from '../../exec/process.ts'
import type { Enclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import type { Switch } from '../topology.ts'
import { switchArgs, tapLines } from './switch-commands.ts'

export interface RunningSwitch {
  /** Runs `ovs-vsctl`. */
  readonly configure: (args: readonly string[]) => Promise<string>
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
  return { configure }
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
