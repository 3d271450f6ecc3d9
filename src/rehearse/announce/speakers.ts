/** Runs MetalLB's real speaker in every node, against the API server of the enclosure, until one announces every VIP. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, finding } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'
import { vipsNotAnnounced } from '../findings.ts'
import type { RunningNode } from '../nodes.ts'
import { type AnnouncedObjects, SPEAKER_LABELS, serviceName, speakerName } from './announced-objects.ts'
import { type ApiServer, applyWhenServed } from './api-server.ts'
import type { ClusterNode } from './cluster-network.ts'
import { describeSpeaker, lastMessage, parseSpeakerLog, unsettledAddresses } from './speaker-log.ts'

/** Without KVM a speaker needs most of a minute to start. */
const ANNOUNCED_MS = 300_000

export async function announceVips(
  { namespace, mode, objects, statuses, addresses }: AnnouncedObjects,
  {
    api,
    nodes,
    cluster,
    signal,
  }: {
    readonly api: ApiServer
    readonly nodes: readonly RunningNode[]
    readonly cluster: readonly ClusterNode[]
    readonly signal?: AbortSignal | undefined
  },
): Promise<readonly Finding[]> {
  await applyWhenServed(api, objects, signal)
  await api.apply(statuses, { subresource: 'status' })
  await Promise.all(
    nodes.map((node) => {
      const address = cluster.find(({ name }) => name === node.name)?.address ?? ''
      return node.agent.run(speakerScript({ node: node.name, address, namespace, kubeconfig: api.kubeconfig }), {
        signal,
      })
    }),
  )
  const deadline = performance.now() + ANNOUNCED_MS
  let isSettled = false
  for (;;) {
    const logs = await readLogs(nodes, signal)
    const unsettled = unsettledAddresses(logs.map(parseSpeakerLog), { addresses, mode })
    // Speakers that have just found each other may not have decided yet.
    if (unsettled.length === 0 && isSettled) return []
    isSettled = unsettled.length === 0
    const ended = logs.find((log) => log.endsWith(ENDED))
    if (ended !== undefined || performance.now() > deadline) {
      const reason =
        ended === undefined
          ? `not within ${ANNOUNCED_MS / 1000} s`
          : `it ended: ${lastMessage(ended.slice(0, -ENDED.length))}`
      return [finding(vipsNotAnnounced, { addresses: unsettled, reason })]
    }
    await sleep(2000, undefined, signal ? { signal } : {})
  }
}

/** What the speakers say of VIPs that no node answers for, by address. */
export async function askSpeakers(
  addresses: readonly string[],
  nodes: readonly RunningNode[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (addresses.length === 0) return new Map()
  const logs = await readLogs(nodes, signal)
  return new Map(
    addresses.map((address) => {
      const vip = { address, service: serviceName(address) }
      const accounts = nodes.map(({ name }, index) => describeSpeaker(logs[index] ?? '', { node: name, ...vip }))
      return [address, accounts.join('; ')]
    }),
  )
}

function readLogs(nodes: readonly RunningNode[], signal?: AbortSignal): Promise<readonly string[]> {
  return Promise.all(nodes.map(async ({ agent }) => (await agent.run(STATE, { signal })).output))
}

interface SpeakerSettings {
  readonly node: string
  readonly address: string
  readonly namespace: string
  readonly kubeconfig: string
}

const LOG = '/run/speaker.log'

export function speakerScript({ node, address, namespace, kubeconfig }: SpeakerSettings): string {
  const labels = Object.entries(SPEAKER_LABELS).map(([name, value]) => `${name}=${value}`)
  const args = [
    '--kubeconfig=/run/speaker.kubeconfig',
    `--namespace=${namespace}`,
    `--node-name=${node}`,
    `--host=${address}`,
    `--ml-bindaddr=${address}`,
    '--ml-bindport=7946',
    `--ml-labels=${labels.join(',')}`,
  ]
  return [
    'cat >/run/speaker.kubeconfig <<\\END',
    kubeconfig.trimEnd(),
    'END',
    `METALLB_POD_NAME=${quoteShellWord(speakerName(node))} METALLB_HOST=${address} \\`,
    `setsid /opt/metallb/speaker ${args.map(quoteShellWord).join(' ')} >${LOG} 2>&1 </dev/null &`,
  ].join('\n')
}

const ENDED = 'ended'
/** What it announces and which speakers it knows, and whether it has ended, with the end of its log. */
const STATE = [
  `grep -E 'serviceAnnounced|serviceWithdrawn|node event|SetBalancer' ${LOG}`,
  `pgrep -x speaker >/dev/null || { tail -5 ${LOG}; echo ${ENDED}; }`,
].join('; ')
