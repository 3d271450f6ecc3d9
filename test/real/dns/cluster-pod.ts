/** Runs the pod of a DNSMasq in a test's cluster when its Deployment exists, and keeps its volumes current. */

import type { KubeObject } from '../../../src/api/object.ts'
import { deployments } from '../../../src/controllers/dns/dns-kinds.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { podFolder, podSpec, type RunningPod, startPod, volumeConfigMaps } from '../../dns-pod.ts'
import { followConfigMaps } from '../../kubelet-volume.ts'
import { loopback } from './ask.ts'

export interface ClusterPod {
  readonly server: RunningPod
  readonly stop: () => Promise<void>
}

export async function clusterPod(
  client: KubeClient,
  options: { readonly namespace: string; readonly name: string; readonly delayMs?: () => number },
): Promise<ClusterPod> {
  const { namespace, name, delayMs } = options
  const deployment = await deploymentOf(client, namespace, `dnsmasq-${name}`)
  const folder = await podFolder()
  const volumes = podSpec(deployment)
    .volumes.map((volume) => ({ names: volumeConfigMaps(volume), folder: folder.volume(volume.name) }))
    .filter(({ names }) => names.length > 0)
  const following = await followConfigMaps({ client, namespace, volumes, ...(delayMs && { delayMs }) })
  const server = await startPod({ deployment, folder, address: loopback() })
  return {
    server,
    stop: async () => {
      await following.stop()
      await server.stop()
      await folder.remove()
    },
  }
}

/** Waits until the controller has created it. */
async function deploymentOf(client: KubeClient, namespace: string, name: string): Promise<KubeObject> {
  for (const end = Date.now() + 180_000; Date.now() < end; ) {
    const found = await client.get({ ...deployments, namespace, name })
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`there is no Deployment ${namespace}/${name}`)
}
