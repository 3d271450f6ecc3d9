import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import { type CheckResult, isProved } from '../verify.ts'
import { judgeProbe, type Probing } from './judge.ts'
import { type ProbePod, probeTasks, wordOf } from './tasks.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const plan = testPlan({ nodes: 2, clouds })

const pods: readonly ProbePod[] = plan.clouds.flatMap(({ name, namespace }, cloud) =>
  [0, 1].map((node) => ({
    cloud: name,
    network: 'internalapi',
    node: `worker-${node}`,
    namespace,
    name: `stackloom-probe-internalapi-worker-${node}`,
    addresses: [`172.17.${cloud}.${30 + node}`],
  })),
)
const [first, second, foreign] = pods as readonly [ProbePod, ProbePod, ProbePod]

/** What the program prints on a network that is well: everybody of the cloud answers, nobody else does. */
function wellAnswer(word: string, pod: ProbePod): string {
  const own = pod.cloud === 'rhoso1' ? '172.17.0.' : '172.17.1.'
  const [kind = '', address = ''] = word.split(',')
  if (kind === 'mtu') return '1500'
  if (!address.startsWith(own)) return kind === 'tcp' ? 'elsewhere' : 'silent'
  if (kind === 'dad') return 'silent'
  return kind === 'arp' ? `02:00:00:00:00:${address.split('.').at(-1)}` : 'yes'
}

function probing(pod: ProbePod, change: (word: string) => string | undefined = () => undefined): Probing {
  const tasks = probeTasks(plan, pod, pods)
  const words = [...new Set(tasks.map(wordOf))]
  const output = words.map((word) => `${word} ${change(word) ?? wellAnswer(word, pod)}\n`).join('')
  return { pod, tasks, output }
}

const well = pods.map((pod) => probing(pod))
const others = well.slice(1)

function wrong(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ id, cloud, findings }) =>
    findings.map(({ code, message }) => `${id} ${cloud} ${code}: ${message}`),
  )
}

describe('probes on networks that are well', () => {
  it('prove reach, VIPs, no duplicates and isolation, for every cloud', () => {
    const results = judgeProbe(plan, well, [])
    expect(wrong(results)).toEqual([])
    expect(isProved(results)).toBe(true)
    expect(results.map(({ id, cloud }) => `${cloud} ${id}`)).toContain('rhoso2 probe-isolation')
  })

  it('ask for every pod and VIP of the other cloud by ARP, ping and port, ctlplane included', () => {
    const words = new Set(probeTasks(plan, first, pods).map(wordOf))
    const vips =
      plan.clouds[1]?.networks.flatMap((network) => network.vips.map(({ address }) => address)) ?? []
    for (const address of [...foreign.addresses, ...vips]) {
      expect(words).toContain(`dad,${address}`)
      expect(words).toContain(`ping,${address},56`)
    }
    expect(vips).toContain('192.168.123.80')
    expect(words).toContain('tcp,172.17.1.80,5000')
  })

  it('ask with packets of the full MTU, headers included', () => {
    const words = probeTasks(plan, first, pods).map(wordOf)
    expect(words).toContain('ping,172.17.0.31,1472')
  })

  it('ask nothing about a segment that the clouds share by the plan', () => {
    const shared = testPlan({ nodes: 2, clouds, shared: true })
    const foreigners = probeTasks(shared, first, pods).filter(({ kind }) => kind === 'foreign')
    expect(foreigners.filter((task) => 'address' in task && task.address === '172.17.1.30')).toEqual([])
  })
})

describe('what probes find', () => {
  it.each([
    [
      'ARP across clouds, with who answered',
      (word: string) => (word === 'dad,172.17.1.30' ? '02:42:00:00:00:09' : undefined),
      'probe-isolation rhoso1 SL9101: a pod of rhoso1/internalapi on worker-0 reaches rhoso2/internalapi on worker-0 (172.17.1.30) by ARP; 02:42:00:00:00:09 answered',
    ],
    [
      'a route between clouds',
      (word: string) => (word === 'tcp,172.17.1.80,5000' ? 'yes' : undefined),
      'probe-isolation rhoso1 SL9101: a pod of rhoso1/internalapi on worker-0 reaches keystone.internal of rhoso2 (172.17.1.80) by port 5000',
    ],
    [
      'a VLAN that the switch does not carry: one finding, not three',
      (word: string) => (/^(arp|ping),172\.17\.0\.31/.test(word) ? 'silent' : undefined),
      'probe-reach rhoso1 SL9102: a pod of rhoso1/internalapi on worker-0 does not reach rhoso1/internalapi on worker-1 (172.17.0.31) by ARP',
    ],
    [
      'a port with a smaller MTU on the way',
      (word: string) => (word === 'ping,172.17.0.31,1472' ? 'silent' : undefined),
      'probe-reach rhoso1 SL9103: a pod of rhoso1/internalapi on worker-0 reaches rhoso1/internalapi on worker-1 (172.17.0.31), but not with packets of 1500 bytes',
    ],
    [
      'an interface with another MTU',
      (word: string) => (word === 'mtu' ? '1450' : undefined),
      'probe-reach rhoso1 SL9104: the pod of rhoso1/internalapi on worker-0 has an MTU of 1450, planned is 1500',
    ],
    [
      'a VIP that two answer for',
      (word: string) => (word === 'arp,172.17.0.80' ? '02:00:00:00:00:01 02:00:00:00:00:02' : undefined),
      'probe-duplicates rhoso1 SL9105: 172.17.0.80 (the VIP of keystone.internal) is answered for by 02:00:00:00:00:01, 02:00:00:00:00:02, as seen by a pod of rhoso1/internalapi on worker-0',
    ],
    [
      "somebody with the pod's own address",
      (word: string) => (word === 'dad,172.17.0.30' ? '52:54:00:00:00:01' : undefined),
      'probe-duplicates rhoso1 SL9105: 172.17.0.30 (the probe of rhoso1/internalapi on worker-0) is answered for by the pod itself, 52:54:00:00:00:01, as seen by a pod of rhoso1/internalapi on worker-0',
    ],
  ])('%s', (_, change, expected) => {
    expect(wrong(judgeProbe(plan, [probing(first, change), ...others], []))).toEqual([expected])
  })

  it('a VIP that nobody answers for; a node alone cannot tell, for it does not hear itself', () => {
    const silent = (word: string) => (word === 'arp,172.17.0.85' ? 'silent' : undefined)
    const rest = others.slice(1)
    expect(wrong(judgeProbe(plan, [probing(first, silent), ...others], []))).toEqual([])
    expect(wrong(judgeProbe(plan, [probing(first, silent), probing(second, silent), ...rest], []))).toEqual([
      'probe-vips rhoso1 SL9106: no node answers ARP for 172.17.0.85, the VIP of rabbitmq.rabbitmq of rhoso1',
    ])
  })

  it('a port behind a VIP that takes no connection is a warning', () => {
    const closed = (word: string) => (word === 'tcp,172.17.0.80,5000' ? 'silent' : undefined)
    const results = judgeProbe(
      plan,
      [probing(first, closed), probing(second, closed), ...others.slice(1)],
      [],
    )
    expect(wrong(results)).toHaveLength(1)
    expect(isProved(results)).toBe(true)
  })
})

describe('probes without a result', () => {
  it('prove nothing: a pod that did not start, an answer that was cut off, no pod at all', () => {
    const unprobed = { cloud: 'rhoso1', from: 'rhoso1/storage on worker-0', reason: 'the pod is Pending' }
    const cut = { ...probing(first), output: 'mtu 1500\nping,172.1' }
    for (const results of [
      judgeProbe(plan, well, [unprobed]),
      judgeProbe(plan, [cut, ...others], []),
      judgeProbe(plan, [], []),
    ]) {
      expect(isProved(results)).toBe(false)
      expect(results.find(({ id, cloud }) => id === 'probe-isolation' && cloud === 'rhoso1')?.verdict).toBe(
        'unknown',
      )
    }
  })
})
