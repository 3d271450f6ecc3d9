/** Attaches pods with the real Multus and whereabouts in the nodes, against the API server of the enclosure, and detaches them. */
import { type Finding, finding } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'
import { cniFiles, MULTUS_CONFIG } from '../../sandbox/nodes/pod-network.ts'
import { type ApiServer, applyWhenServed } from '../announce/api-server.ts'
import { podNotAttached } from '../findings.ts'
import { cniError } from '../node-scripts.ts'
import type { RunningNode } from '../nodes.ts'
import { judgeAttachments, judgeReleased, type MultusPod } from './multus-plan.ts'

/** Any range that no site has: the pod network of the cluster, which is not tested. */
const POD_CIDR = '198.19.0.0/24'

export async function attachWithMultus(
  pods: readonly MultusPod[],
  nodes: readonly RunningNode[],
  api: ApiServer,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  await applyWhenServed(
    api,
    pods.flatMap(({ objects }) => objects),
    signal,
  )
  const refused = await Promise.all(
    nodes.map(async (node): Promise<readonly Finding[]> => {
      const findings: Finding[] = []
      for (const pod of pods.filter((candidate) => candidate.node === node.name)) {
        const reason = await attachPod(pod, node, api.kubeconfig, signal)
        const from = `${pod.cloud.name} on ${node.name} by Multus`
        if (reason !== undefined) findings.push(finding(podNotAttached, { from, reason }))
      }
      return findings
    }),
  )
  const attached = await api.list('pods')
  const differing = pods.flatMap((pod) =>
    judgeAttachments(
      pod,
      attached.find(({ metadata }) => metadata.name === pod.name),
    ),
  )
  // Whatever was refused: later pods have the same addresses.
  await Promise.all(
    pods.map(async (pod) => {
      const node = nodes.find(({ name }) => name === pod.node)
      if (node) await detachPod(pod, node, api.kubeconfig, signal)
    }),
  )
  if (refused.flat().length > 0) return refused.flat()
  return [...differing, ...judgeReleased(await api.list('ippools.whereabouts.cni.cncf.io'))]
}

/** As the kubelet does: Multus waits two seconds for its API server, which may be late on a busy machine. */
const ATTEMPTS = 6

/** Returns the reason when no attempt succeeds. */
async function attachPod(
  pod: MultusPod,
  node: RunningNode,
  kubeconfig: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const { code, output } = await node.agent.run(multusScript(pod, 'ADD', kubeconfig), { signal })
    if (code === 0) return undefined
    if (attempt === ATTEMPTS) return cniError(output)
    await detachPod(pod, node, kubeconfig, signal)
  }
}

async function detachPod(pod: MultusPod, node: RunningNode, kubeconfig: string, signal?: AbortSignal): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { code } = await node.agent.run(multusScript(pod, 'DEL', kubeconfig), { signal })
    if (code === 0) break
  }
  await node.agent.run(`ip netns del ${pod.name}`, { signal })
}

/** Calls Multus as the container runtime does. */
export function multusScript({ cloud, name }: MultusPod, command: 'ADD' | 'DEL', kubeconfig: string): string {
  const files = [...cniFiles({ podCidr: POD_CIDR }, kubeconfig)].flatMap(([file, text]) => [
    `cat >/etc/cni/${file} <<\\END`,
    text.trimEnd(),
    'END',
  ])
  const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${cloud.namespace};K8S_POD_NAME=${name}`
  const env = `CNI_COMMAND=${command} CNI_CONTAINERID=${name} CNI_NETNS=/run/netns/${name} CNI_IFNAME=eth0 CNI_PATH=/opt/cni/bin`
  return [
    'set -e',
    'mkdir -p /etc/cni/net.d/whereabouts.d',
    ...(command === 'ADD' ? [...files, `ip netns add ${name}`] : []),
    `${env} CNI_ARGS=${quoteShellWord(args)} /opt/cni/bin/multus </etc/cni/${MULTUS_CONFIG}`,
  ].join('\n')
}
