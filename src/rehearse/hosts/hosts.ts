/** Connects data plane hosts to the switches, each a network namespace of the enclosure, and runs the tests of the probe in them. */
import { writeFile } from 'node:fs/promises'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { type AskedProbe, runTasks } from '../../deploy/run-probes.ts'
import { failure } from '../../errors/failure.ts'
import { describeExit, lastLines, succeeded } from '../../exec/process.ts'
import type { Plan } from '../../plan/plan.ts'
import type { ProbePod } from '../../verify/probe/probe-tasks.ts'
import type { Enclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import { type ProbeOptions, tasksWithoutPorts } from '../probe-networks.ts'
import type { RunningSwitch } from '../switch/switch.ts'
import { plugPorts } from '../switch/switch-commands.ts'
import { addressLines, namespaceLines, type RehearsedHost } from './host-plan.ts'

export async function connectHosts(
  enclosure: Enclosure,
  switches: RunningSwitch,
  hosts: readonly RehearsedHost[],
): Promise<void> {
  const run = async (args: readonly string[], input: string): Promise<void> => {
    const { exit, stderr } = await enclosure.exec({ file: 'ip', args: [...args, '-batch', '-'], input })
    if (!succeeded(exit)) throw failure(partFailed, { part: 'a host', reason: lastLines(stderr) || describeExit(exit) })
  }
  for (const host of hosts) {
    await switches.plug(host.plug)
    await run([], namespaceLines(host, plugPorts(host.plug)[1]))
    await run(['-n', host.name], addressLines(host))
  }
}

/** Hosts whose tests run at a time: they run without emulation, and wait most of the time. */
const HOSTS_AT_A_TIME = 8

export async function probeHosts(
  plan: Plan,
  hosts: readonly RehearsedHost[],
  pods: readonly ProbePod[],
  { enclosure, busybox, program, signal }: ProbeOptions & { readonly enclosure: Enclosure; readonly busybox: string },
): Promise<readonly AskedProbe[]> {
  if (hosts.length === 0) return []
  await writeFile(enclosure.outside('probe.sh'), program)
  return mapConcurrently(hosts, HOSTS_AT_A_TIME, async (host) => {
    const tasks = tasksWithoutPorts(plan, host, [...pods, ...hosts.filter(({ cloud }) => cloud === host.cloud)])
    return runTasks(host, tasks, async (words) => {
      const args = ['netns', 'exec', host.name, busybox, 'sh', enclosure.inside('probe.sh'), 'net1', ...words]
      return (await enclosure.exec({ file: 'ip', args }, signal ? { signal } : {})).stdout
    })
  })
}
