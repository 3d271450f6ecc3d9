import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import { finding } from '../../errors/finding.ts'
import { peerUnreachable } from '../findings/probe-findings.ts'
import { type CheckResult, isProved } from '../verify.ts'
import { evaluateProbes, type ProbeRun, tasksToRepeat } from './probe-results.ts'
import { encodeTask, type ProbePod, probeTasks } from './probe-tasks.ts'

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
    gateways: [`172.17.${cloud}.${11 - node}`],
  })),
)
const [first, second, foreign] = pods as readonly [ProbePod, ProbePod, ProbePod]

const NO_RESULT = 'no result'
/** A pod without its default route. */
const withoutRoute = (word: string) => (word.startsWith('via,') ? NO_RESULT : undefined)

/** The output of the script on a healthy network: only machines of the cloud answer. */
function wellAnswer(word: string, pod: ProbePod): string {
  const own = pod.cloud === 'rhoso1' ? '172.17.0.' : '172.17.1.'
  const [kind = '', address = ''] = word.split(',')
  if (kind === 'mtu') return '1500'
  if (!address.startsWith(own)) return kind === 'tcp' ? 'elsewhere' : 'silent'
  if (kind === 'dad') return 'silent'
  return kind === 'arp' ? `02:00:00:00:00:${address.split('.').at(-1)}` : 'yes'
}

function probing(pod: ProbePod, change: (word: string) => string | undefined = () => undefined): ProbeRun {
  const tasks = probeTasks(plan, pod, pods)
  const words = [...new Set(tasks.map(encodeTask))]
  const output = words
    .map((word) => `${word} ${change(word) ?? wellAnswer(word, pod)}\n`)
    .filter((line) => !line.endsWith(` ${NO_RESULT}\n`))
    .join('')
  return { pod, tasks, output }
}

const well = pods.map((pod) => probing(pod))
const others = well.slice(1)

function wrong(results: readonly CheckResult[]): readonly string[] {
  return results.flatMap(({ id, cloud, findings }) =>
    findings.map(({ code, message }) => `${id} ${cloud} ${code}: ${message}`),
  )
}

describe('probes on healthy networks', () => {
  it('prove reach, VIPs, unique addresses and isolation for every cloud', () => {
    const results = evaluateProbes(plan, well, [])
    expect(wrong(results)).toEqual([])
    expect(isProved(results)).toBe(true)
    expect(results.map(({ id, cloud }) => `${cloud} ${id}`)).toContain('rhoso2 probe-isolation')
  })

  it('test every pod and VIP of the other cloud by ARP, ping and port, including ctlplane', () => {
    const { gateways: _, ...withoutRoute } = first
    const words = new Set(probeTasks(plan, withoutRoute, pods).map(encodeTask))
    const vips = plan.clouds[1]?.networks.flatMap((network) => network.vips.map(({ address }) => address)) ?? []
    for (const address of [...foreign.addresses, ...vips]) {
      expect(words).toContain(`dad,${address}`)
      expect(words).toContain(`ping,${address},56`)
    }
    expect(vips).toContain('192.168.123.80')
    expect(words).toContain('tcp,172.17.1.80,5000')
  })

  it("test every node's address in the other cloud by ARP, and the way to its pods through a node", () => {
    const words = new Set(probeTasks(plan, first, pods).map(encodeTask))
    const nodes = plan.clouds[1]?.networks.flatMap((network) => network.nodes.map(({ address }) => address)) ?? []
    expect(nodes).toContain('172.17.1.11')
    for (const address of nodes) expect(words).toContain(`dad,${address}`)
    expect(words).toContain('via,172.17.1.30,172.17.0.11')
    expect(words).toContain('via,172.17.1.31,172.17.0.11')
    expect(words).not.toContain('ping,172.17.1.30,56')
  })

  it("skip the nodes' addresses where the site lets nodes answer on any segment", () => {
    const open = testPlan({ nodes: 2, clouds, cluster: { isolation: { nodeAddresses: 'any-segment' } } })
    const kinds = probeTasks(open, first, pods).map(({ kind }) => kind)
    expect(kinds).not.toContain('node-address')
  })

  it('test with packets of the full MTU including headers', () => {
    const words = probeTasks(plan, first, pods).map(encodeTask)
    expect(words).toContain('ping,172.17.0.31,1472')
  })

  it('skip a segment that the clouds share by plan', () => {
    const shared = testPlan({ nodes: 2, clouds, shared: true })
    const foreigners = probeTasks(shared, first, pods).filter(({ kind }) => kind === 'foreign')
    expect(foreigners.filter((task) => 'address' in task && task.address === '172.17.1.30')).toEqual([])
  })
})

describe('gateways, routes and DHCP servers', () => {
  const routed = {
    ...plan,
    clouds: plan.clouds.map((cloud) => ({
      ...cloud,
      networks: cloud.networks.map((network) => ({
        ...network,
        subnets: network.subnets.map((subnet) => ({ ...subnet, gateway: subnet.cidr.replace('0/24', '1') })),
        podRoutes: [
          { destination: '172.31.0.0/24', nexthop: '172.17.0.1' },
          { destination: '0.0.0.0/0', nexthop: '172.17.0.1' },
          { destination: 'fd00:31::/64', nexthop: 'fd00:17::1' },
        ],
      })),
    })),
  }
  const tasks = probeTasks(routed, first, pods)
  const judge = (change: (word: string) => string) => {
    const output = [...new Set(tasks.map(encodeTask))].map((word) => `${word} ${change(word)}\n`).join('')
    return wrong(evaluateProbes(routed, [{ pod: first, tasks, output }], [])).filter((line) => line.includes('rhoso1'))
  }

  it('are asked for the families of the pod; its default route leads to a node', () => {
    const words = tasks.map(encodeTask)
    expect(words).toContain('arp,172.17.0.1')
    expect(words.filter((word) => word.startsWith('route,'))).toEqual(['route,172.31.0.0,172.17.0.1'])
    expect(words).toContain('dhcp')
  })

  it('are reported when they do not answer, or answer', () => {
    const changed: Readonly<Record<string, string>> = {
      'arp,172.17.0.1': 'silent',
      'route,172.31.0.0,172.17.0.1': 'silent',
      dhcp: '192.0.2.1',
    }
    const found = judge((word) => changed[word] ?? wellAnswer(word, first))
    expect(found).toEqual([
      'probe-reach rhoso1 SL9139: a pod of rhoso1/internalapi on worker-0 gets no answer from the gateway 172.17.0.1 by ARP',
      'probe-reach rhoso1 SL9140: a pod of rhoso1/internalapi on worker-0 has no route to 172.31.0.0/24 through 172.17.0.1',
      'probe-duplicates rhoso1 SL9138: 192.0.2.1 offers addresses by DHCP on rhoso1/internalapi on worker-0',
    ])
  })

  it('are reported for a gateway with two holders, and not for an image without a DHCP client', () => {
    const changed: Readonly<Record<string, string>> = {
      'arp,172.17.0.1': '02:00:00:00:00:01 02:00:00:00:00:02',
      'route,172.31.0.0,172.17.0.1': 'yes',
      dhcp: 'untested',
    }
    const found = judge((word) => changed[word] ?? wellAnswer(word, first))
    expect(found).toEqual([
      'probe-duplicates rhoso1 SL9105: 02:00:00:00:00:01, 02:00:00:00:00:02 answer for 172.17.0.1 (the gateway), as seen by a pod of rhoso1/internalapi on worker-0',
    ])
  })
})

describe('an accepted finding of a probe', () => {
  const accepting = (code: string, where?: string) => ({
    ...plan,
    from: { ...plan.from, accept: [{ code, where, reason: 'known', path: ['spec', 'accept', 0] }] },
  })
  const broken = [probing(first, (word) => (word === 'dad,172.17.1.30' ? '02:42:00:00:00:09' : undefined)), ...others]

  it('is a warning with the reason and fails no check', () => {
    const results = evaluateProbes(accepting('SL9101', '172.17.1.30'), broken, [])
    expect(isProved(results)).toBe(true)
    expect(results.flatMap(({ findings }) => findings)).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('(accepted: known)') }),
    ])
  })

  it('covers only what the entry names', () => {
    expect(isProved(evaluateProbes(accepting('SL9101', '172.17.1.31'), broken, []))).toBe(false)
  })

  it('lets a probe without result count as tested', () => {
    const missing = [{ cloud: 'rhoso1', from: 'rhoso1/storage on worker-0', reason: 'no pod', remedy: 'create it' }]
    expect(isProved(evaluateProbes(plan, well, missing))).toBe(false)
    expect(isProved(evaluateProbes(accepting('SL9108'), well, missing))).toBe(true)
  })
})

describe('evaluateProbes reports', () => {
  it.each([
    [
      'ARP answers from another cloud, with the hardware address',
      (word: string) => (word === 'dad,172.17.1.30' ? '02:42:00:00:00:09' : undefined),
      'probe-isolation rhoso1 SL9101: a pod of rhoso1/internalapi on worker-0 reaches rhoso2/internalapi on worker-0 (172.17.1.30) by ARP; 02:42:00:00:00:09 answered',
    ],
    [
      'a route between clouds',
      (word: string) => (word === 'tcp,172.17.1.80,5000' ? 'yes' : undefined),
      'probe-isolation rhoso1 SL9101: a pod of rhoso1/internalapi on worker-0 reaches keystone.internal of rhoso2 (172.17.1.80) by port 5000',
    ],
    [
      'a node that answers for its address in another cloud',
      (word: string) => (word === 'dad,172.17.1.11' ? '52:54:00:01:00:01' : undefined),
      'probe-isolation rhoso1 SL9125: a pod of rhoso1/internalapi on worker-0 gets an ARP answer from 52:54:00:01:00:01 for 172.17.1.11, the address of worker-1 in rhoso2/internalapi',
    ],
    [
      'a node that forwards to another cloud',
      (word: string) => (word === 'via,172.17.1.31,172.17.0.11' ? 'yes' : undefined),
      'probe-isolation rhoso1 SL9126: a pod of rhoso1/internalapi on worker-0 reaches rhoso2/internalapi on worker-1 (172.17.1.31) through the node with 172.17.0.11, which forwards between the clouds',
    ],
    [
      'a VLAN that the switch does not carry: one finding, not three',
      (word: string) => (/^(arp|ping),172\.17\.0\.31/.test(word) ? 'silent' : undefined),
      'probe-reach rhoso1 SL9102: a pod of rhoso1/internalapi on worker-0 cannot reach rhoso1/internalapi on worker-1 (172.17.0.31) by ARP',
    ],
    [
      'a port with a smaller MTU on the path',
      (word: string) => (word === 'ping,172.17.0.31,1472' ? 'silent' : undefined),
      'probe-reach rhoso1 SL9103: a pod of rhoso1/internalapi on worker-0 reaches rhoso1/internalapi on worker-1 (172.17.0.31), but not with packets of 1500 bytes',
    ],
    [
      'an interface with a different MTU',
      (word: string) => (word === 'mtu' ? '1450' : undefined),
      'probe-reach rhoso1 SL9104: the pod of rhoso1/internalapi on worker-0 has an MTU of 1450, planned is 1500',
    ],
    [
      'a VIP that two machines answer for',
      (word: string) => (word === 'arp,172.17.0.80' ? '02:00:00:00:00:01 02:00:00:00:00:02' : undefined),
      'probe-duplicates rhoso1 SL9105: 02:00:00:00:00:01, 02:00:00:00:00:02 answer for 172.17.0.80 (the VIP of keystone.internal), as seen by a pod of rhoso1/internalapi on worker-0',
    ],
    [
      "another machine with the pod's address",
      (word: string) => (word === 'dad,172.17.0.30' ? '52:54:00:00:00:01' : undefined),
      'probe-duplicates rhoso1 SL9105: the pod itself, 52:54:00:00:00:01 answer for 172.17.0.30 (the probe of rhoso1/internalapi on worker-0), as seen by a pod of rhoso1/internalapi on worker-0',
    ],
  ])('%s', (_, change, expected) => {
    expect(wrong(evaluateProbes(plan, [probing(first, change), ...others], []))).toEqual([expected])
  })

  it('a VIP without an answer, but only if probes of two nodes agree', () => {
    const silent = (word: string) => (word === 'arp,172.17.0.85' ? 'silent' : undefined)
    const rest = others.slice(1)
    expect(wrong(evaluateProbes(plan, [probing(first, silent), ...others], []))).toEqual([])
    expect(wrong(evaluateProbes(plan, [probing(first, silent), probing(second, silent), ...rest], []))).toEqual([
      'probe-vips rhoso1 SL9106: no node answers ARP for 172.17.0.85, the VIP of rabbitmq.rabbitmq of rhoso1',
    ])
    const accounts = new Map([['172.17.0.85', 'no speaker announces it']])
    const explained = evaluateProbes(plan, [probing(first, silent), probing(second, silent), ...rest], [], accounts)
    expect(wrong(explained)).toEqual([expect.stringMatching(/of rhoso1; no speaker announces it$/)])
  })

  it('a warning for a VIP port that accepts no connection', () => {
    const closed = (word: string) => (word === 'tcp,172.17.0.80,5000' ? 'silent' : undefined)
    const results = evaluateProbes(plan, [probing(first, closed), probing(second, closed), ...others.slice(1)], [])
    expect(wrong(results)).toHaveLength(1)
    expect(isProved(results)).toBe(true)
  })
})

describe('a probe on a bridge over a whole NIC', () => {
  const bridge: ProbePod = {
    cloud: 'rhoso1',
    network: 'datacentre',
    node: 'worker-0',
    namespace: 'openstack',
    name: 'stackloom-probe-datacentre-worker-0',
    addresses: [],
  }
  const tasks = probeTasks(plan, bridge, pods)
  const run = (answer: string): ProbeRun => ({
    pod: bridge,
    tasks,
    output: tasks.map((task) => `${encodeTask(task)} ${answer}\n`).join(''),
  })

  it('tests the VLANs of the other cloud, and no address', () => {
    const vlans = plan.clouds[1]?.networks.flatMap(({ vlan }) => vlan ?? []) ?? []
    expect(vlans).toContain(30)
    expect(tasks.map(encodeTask)).toEqual(expect.arrayContaining(vlans.map((vlan) => `tag,${vlan},169.254.0.${vlan}`)))
    expect(new Set(tasks.map(({ kind }) => kind))).toEqual(new Set(['tagged']))
  })

  it('reports a tag that passes', () => {
    const results = evaluateProbes(plan, [run('silent'), ...well], [])
    expect(wrong(results)).toEqual([])
    const found = wrong(evaluateProbes(plan, [run('02:00:00:00:00:01'), ...well], []))
    expect(found).toContain(
      'probe-isolation rhoso1 SL9127: the bridge of rhoso1/datacentre on worker-0 passes frames of pods with the tag 30, which is the VLAN of rhoso2/internalapi',
    )
  })
})

describe('probes of a cloud with IPv6', () => {
  const dual = testPlan({ nodes: 2, clouds, families: [4, 6] })
  const six = dual.clouds.map(({ networks }) =>
    networks.find(({ name }) => name === 'internalapi')?.subnets.find(({ family }) => family === 6),
  )
  const both = pods.map((pod, at): ProbePod => {
    const start = six[at < 2 ? 0 : 1]?.spans.find(({ role }) => role === 'pods')?.start ?? ''
    return { ...pod, addresses: [...pod.addresses, at % 2 === 0 ? start : `${start.slice(0, -1)}f`] }
  })
  const faceOf = (pod: ProbePod): string => `fe80::${both.indexOf(pod) + 1}`
  /** All pods of the cloud receive each other's multicast and their own. */
  const answer = (word: string, pod: ProbePod): string => {
    const [kind = '', address = ''] = word.split(',')
    if (kind === 'own6') return faceOf(pod)
    if (kind === 'all6')
      return both
        .filter(({ cloud }) => cloud === pod.cloud)
        .map(faceOf)
        .join(' ')
    if (!address.includes(':')) return wellAnswer(word, pod)
    const own = both.filter(({ cloud }) => cloud === pod.cloud).some(({ addresses }) => addresses.includes(address))
    if (kind === 'dad') return 'silent'
    if (kind === 'nd') return '02:00:00:00:00:01'
    return own ? 'yes' : 'silent'
  }
  const asked = (change: (word: string, pod: ProbePod) => string | undefined = () => undefined) =>
    both.map((pod): ProbeRun => {
      const tasks = probeTasks(dual, pod, both)
      const lines = [...new Set(tasks.map(encodeTask))].map(
        (word) => `${word} ${change(word, pod) ?? answer(word, pod)}\n`,
      )
      return { pod, tasks, output: lines.join('') }
    })
  const only = (...results: Parameters<typeof wrong>) => wrong(...results).filter((one) => !one.includes('SL9107'))

  it('report nothing when the clouds are isolated', () => {
    const results = evaluateProbes(dual, asked(), [])
    expect(only(results)).toEqual([])
    expect(isProved(results)).toBe(true)
  })

  it('test every address of the other cloud by ping and port, and VIPs by neighbour discovery', () => {
    const words = new Set(probeTasks(dual, both[0] as ProbePod, both).map(encodeTask))
    expect(words).toContain(`ping,${both[2]?.addresses[1]},56`)
    const vip = dual.clouds[0]?.networks
      .find(({ name }) => name === 'internalapi')
      ?.vips.find(({ address }) => address.includes(':'))
    expect(words).toContain(`nd,${vip?.address}`)
  })

  it('report a pod of another cloud that answers on the segment without a route', () => {
    const bridged = (word: string, pod: ProbePod) =>
      word === 'all6' && pod === both[0] ? 'fe80::1 fe80::2 fe80::3' : undefined
    expect(only(evaluateProbes(dual, asked(bridged), []))).toEqual([
      'probe-isolation rhoso1 SL9101: a pod of rhoso1/internalapi on worker-0 reaches rhoso2/internalapi on worker-0 (fe80::3) by IPv6 multicast',
    ])
  })

  it('report an address that the kernel gave up because of a duplicate', () => {
    const taken = both[0]?.addresses[1] ?? ''
    const refused = (word: string, pod: ProbePod) =>
      word === `dad,${taken}` && pod === both[0] ? 'refused' : undefined
    expect(only(evaluateProbes(dual, asked(refused), []))).toEqual([
      `probe-duplicates rhoso1 SL9105: the pod itself, another machine answer for ${taken} (the probe of rhoso1/internalapi on worker-0), as seen by a pod of rhoso1/internalapi on worker-0`,
    ])
  })

  it('prove nothing when an interface does not receive its own multicast', () => {
    const deaf = (word: string) => (word === 'all6' ? 'silent' : undefined)
    expect(isProved(evaluateProbes(dual, asked(deaf), []))).toBe(false)
  })
})

describe('probes without a result', () => {
  const unprobed = { cloud: 'rhoso1', from: 'rhoso1/storage on worker-0', reason: 'the pod is Pending', remedy: 'wait' }
  const cut = { ...probing(first), output: 'mtu 1500\nping,172.1' }
  const verdicts = (results: readonly CheckResult[]) =>
    Object.fromEntries(results.filter(({ cloud }) => cloud === 'rhoso1').map(({ id, verdict }) => [id, verdict]))

  it.each([
    ['a pod did not start', evaluateProbes(plan, well, [unprobed]), 'SL9108'],
    ['output is incomplete', evaluateProbes(plan, [cut, ...others], []), 'SL9141'],
    ['a route is missing', evaluateProbes(plan, [probing(first, withoutRoute), ...others], []), 'SL9141'],
    ['no pod ran', evaluateProbes(plan, [], []), 'SL9108'],
  ])('prove nothing and have a reason when %s', (_, results, code) => {
    expect(isProved(results)).toBe(false)
    expect(verdicts(results)['probe-isolation']).toBe('unknown')
    for (const { verdict, findings } of results) {
      if (verdict === 'unknown') expect(findings).toContainEqual(expect.objectContaining({ code }))
    }
  })

  it('leave the checks that need no other test as they are', () => {
    const results = evaluateProbes(plan, [probing(first, withoutRoute), ...others], [])
    expect(verdicts(results)).toEqual({
      'probe-reach': 'passed',
      'probe-vips': 'passed',
      'probe-duplicates': 'passed',
      'probe-isolation': 'unknown',
    })
    expect(wrong(results)).toEqual([
      'probe-isolation rhoso1 SL9141: 2 tests of the probe of rhoso1/internalapi on worker-0 (via,172.17.1.30,172.17.0.11 via,172.17.1.31,172.17.0.11) have no result: the pod has no default route through the node',
    ])
  })

  it('are made once more together with peers that were silent', () => {
    const silent = (word: string) => (word === 'arp,172.17.0.31' ? 'silent' : withoutRoute(word))
    expect(tasksToRepeat(probing(first, silent)).map(encodeTask)).toEqual([
      'arp,172.17.0.31',
      'via,172.17.1.30,172.17.0.11',
      'via,172.17.1.31,172.17.0.11',
    ])
    expect(tasksToRepeat(probing(first))).toEqual([])
  })
})

describe('a peer that cannot be reached', () => {
  const remedy = (address: string, by: 'ARP' | 'ping') =>
    finding(peerUnreachable, { from: 'rhoso1/storage on worker-0', to: 'rhoso1/storage on worker-1', address, by })
      .remedy

  it('has a filter on its way only where ARP has found it', () => {
    expect(remedy('172.18.0.31', 'ping')).toContain('check for a filter')
    expect(remedy('172.18.0.31', 'ARP')).toContain('the switch carries the VLAN')
    expect(remedy('fd00:cccc::31', 'ping')).toContain('the switch carries the VLAN')
  })
})
