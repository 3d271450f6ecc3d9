/**
 * Lets the DNS of each cloud answer on its VIP: dnsmasq with the names of the plan in every node, and the rule that kube-proxy
 * would have, which sends packets for the VIP there. A pod on the network of the VIP asks it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, finding } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import type { ProbePod } from '../../verify/probe/probe-tasks.ts'
import { dnsSilent } from '../findings.ts'
import type { RunningNode } from '../nodes.ts'

export interface DnsVip {
  readonly cloud: string
  readonly network: string
  readonly address: string
  /** Where dnsmasq of this cloud listens on nodes. */
  readonly port: number
  /** The names that it knows. The first one is asked for. */
  readonly records: readonly DnsRecord[]
}

interface DnsRecord {
  readonly name: string
  readonly address: string
}

const FIRST_PORT = 5300

/**
 * Pure: one for each family in which a cloud has a VIP for DNS, on networks with pods on two nodes: a pod cannot reach the VIPs of
 * its own node.
 */
export function planDnsVips({ clouds }: Plan, pods: readonly ProbePod[]): readonly DnsVip[] {
  const isAsked = (cloud: string, network: string): boolean => {
    const asking = pods.filter((pod) => pod.cloud === cloud && pod.network === network)
    return new Set(asking.map(({ node }) => node)).size > 1
  }
  return clouds.flatMap((cloud, index) =>
    cloud.networks.flatMap((network) =>
      network.vips
        .filter(({ slot }) => slot === DNS_SLOT && isAsked(cloud.name, network.name))
        .map(({ address }) => ({
          cloud: cloud.name,
          network: network.name,
          address,
          port: FIRST_PORT + index,
          records: dnsRecords(cloud, network, address),
        })),
    ),
  )
}

const DNS_SLOT = 'dns'

/** The hosts of the cloud; a cloud without hosts has the name of its DNS. */
function dnsRecords({ networks }: PlannedCloud, { dnsDomain }: PlannedNetwork, vip: string): readonly DnsRecord[] {
  const isFamily = (address: string): boolean => address.includes(':') === vip.includes(':')
  const hosts = networks
    .flatMap((network) => network.hosts)
    .filter(({ address }) => isFamily(address))
    .flatMap(({ names, address }) => names.map((name) => ({ name, address })))
  return [{ name: `${DNS_SLOT}.${dnsDomain}`, address: vip }, ...hosts].toReversed()
}

/** Pure: starts dnsmasq of every cloud on a node, and redirects what is sent to the VIPs. */
export function dnsScript(vips: readonly DnsVip[]): string {
  const ports = [...new Set(vips.map(({ port }) => port))]
  const servers = ports.map((port) => {
    const records = vips.filter((vip) => vip.port === port).flatMap((vip) => vip.records)
    const args = [
      '--conf-file=/dev/null',
      '--no-resolv',
      '--no-hosts',
      '--user=root',
      `--port=${port}`,
      `--pid-file=/run/dnsmasq.${port}.pid`,
      ...records.map(({ name, address }) => `--host-record=${name},${address}`),
    ]
    return `dnsmasq ${args.map(quoteShellWord).join(' ')} >/dev/null 2>&1`
  })
  const rules = vips.flatMap(({ address, port }) =>
    ['udp', 'tcp'].map(
      (protocol) =>
        `${address.includes(':') ? 'ip6' : 'ip'} daddr ${address} ${protocol} dport 53 redirect to :${port}`,
    ),
  )
  return [
    'set -e',
    ...servers,
    'nft -f - <<\\END',
    'table inet vips {',
    'chain prerouting {',
    'type nat hook prerouting priority dstnat;',
    ...rules,
    '}',
    '}',
    'END',
  ].join('\n')
}

/** Pure: prints the address of the name that the DNS knows. */
export function askScript({ address: server, records: [record] }: DnsVip, pod: string): string {
  const type = server.includes(':') ? 'AAAA' : 'A'
  return `ip netns exec ${pod} busybox nslookup -type=${type} ${record?.name ?? ''} ${server}`
}

/** Pure: whether the output of nslookup has the address. busybox prints that of the server first, with its port. */
export function hasAnswer({ records: [record] }: DnsVip, output: string): boolean {
  const [, ...answers] = output.split(/^Name:/m)
  return answers.some((answer) => answer.split(/\s+/).includes(record?.address ?? ''))
}

/** As long as VIPs are asked for: speakers on a busy machine need their time, and so does a node that is emulated. */
const ASK_FOR_MS = 180_000
const PAUSE_MS = 1_000

/** From pods of all nodes until one gets the answer: a pod cannot reach VIPs of its own node. */
export async function askDns(
  vips: readonly DnsVip[],
  nodes: readonly RunningNode[],
  pods: readonly ProbePod[],
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const started = await Promise.all(nodes.map(({ agent }) => agent.run(dnsScript(vips), { signal })))
  const failed = started.find(({ code }) => code !== 0)
  const findings = await Promise.all(
    vips.map(async (vip): Promise<readonly Finding[]> => {
      const asking = pods.filter(({ cloud, network }) => cloud === vip.cloud && network === vip.network)
      let last = ''
      for (const end = performance.now() + ASK_FOR_MS; performance.now() < end; await pause(signal)) {
        for (const pod of asking) {
          const node = nodes.find(({ name }) => name === pod.node)
          last = (await node?.agent.run(askScript(vip, pod.name), { signal }))?.output ?? ''
          if (hasAnswer(vip, last)) return []
        }
      }
      const reason = lastLine(failed?.output ?? last)
      const { cloud, network, address } = vip
      return [finding(dnsSilent, { cloud, network, address, name: vip.records[0]?.name ?? '', reason })]
    }),
  )
  return findings.flat()
}

function pause(signal?: AbortSignal): Promise<void> {
  return sleep(PAUSE_MS, undefined, signal && { signal })
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? ''
}
