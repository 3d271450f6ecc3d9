/**
 * Host discovery: new compute hosts are known to nova's cells only after `nova-manage cell_v2 discover_hosts`, which
 * runs in the conductor's pod.
 */

import { failure } from '../errors/failure.ts'
import type { Connection } from '../kube/connect.ts'
import { execInPod } from '../kube/pod-exec.ts'
import { discoveryFailed } from '../run/findings.ts'
import type { DiscoverHosts } from './stages/data-plane-stage.ts'

const POD = 'nova-cell0-conductor-0'
/** Pods of a sandbox run nowhere, so nothing can be run in them. */
const PLAYED = 'sandbox.stackloom.dev/played'

export function discoverHosts({ client, transport }: Pick<Connection, 'client' | 'transport'>): DiscoverHosts {
  return async ({ namespace }, { stop }) => {
    const pod = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: POD })
    if (!pod) throw failure(discoveryFailed, { namespace, reason: `there is no pod ${POD}` }, { exitCode: 1 })
    if (pod.metadata.annotations?.[PLAYED] !== undefined) return 'the conductor is played: no hosts to discover'
    const command = ['nova-manage', 'cell_v2', 'discover_hosts', '--verbose']
    const said = await execInPod(transport, {
      namespace,
      pod: POD,
      command,
      timeoutMs: 120_000,
      signal: stop,
    })
    if (said.exitCode !== 0) {
      const reason = said.stderr.trim().split('\n').at(-1) || `it ended with ${said.exitCode}`
      throw failure(discoveryFailed, { namespace, reason }, { exitCode: 1 })
    }
    return said.stdout.trim().split('\n').at(-1) || 'no new hosts'
  }
}
