/** `verify --probe`: runs the network probe, or prints its pods. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { systemClock } from '../../clock/clock.ts'
import { readData } from '../../data/data.ts'
import { type ProbeOutcome, probeNetworks } from '../../deploy/network-probe.ts'
import { formatError } from '../../errors/failure.ts'
import { execInPod } from '../../kube/pod-exec.ts'
import type { Plan } from '../../plan/plan.ts'
import { renderProbe } from '../../render/probe-pods.ts'
import { userStateFolder } from '../../run/run-record.ts'
import type { ProbeRecord } from '../../verify/probe/probe-record.ts'
import { type ClusterFlags, openCluster } from '../cluster.ts'
import type { Io } from '../io.ts'

export interface ProbeFlags extends ClusterFlags {
  readonly probe?: boolean
  readonly probeImage: string
  readonly dryRun?: boolean
}

/** One call runs many tests, sixteen at a time, which may take three seconds each. */
const CALL_MS = 120_000

export async function probe(plan: Plan, flags: ProbeFlags, io: Io): Promise<ProbeOutcome> {
  const connection = await openCluster(flags, io)
  const { client, transport } = connection
  try {
    return await probeNetworks(
      plan,
      { image: flags.probeImage, program: readData('probe.sh') },
      {
        client,
        ask: async ({ namespace, name: pod }, command) => {
          const call = { namespace, pod, container: 'probe', command, timeoutMs: CALL_MS, signal: io.stop }
          return (await execInPod(transport, call)).stdout
        },
        clock: systemClock,
        stop: io.stop,
        say: io.stderr,
      },
    )
  } finally {
    await connection.close()
  }
}

/** Keeps the last result for the console. It is a copy: the command does not fail because it cannot be written. */
export async function recordProbe(record: ProbeRecord, io: Io): Promise<void> {
  const folder = userStateFolder(io.env, 'probes')
  if (folder === undefined) return
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(path.join(folder, `${record.site}.json`), JSON.stringify(record), { mode: 0o600 })
  } catch (thrown) {
    io.verbose?.(`the result of the probe was not kept: ${formatError(thrown)}`)
  }
}

export async function printProbes(plan: Plan, { probeImage: image }: ProbeFlags, io: Io): Promise<void> {
  const { writeYamlStream } = await import('../../yaml/write.ts')
  const settings = { image, program: readData('probe.sh') }
  io.stdout(writeYamlStream(plan.clouds.flatMap((cloud) => renderProbe(plan, cloud, settings))))
}
