import { describe, expect, it } from 'vitest'
import { changed, documentsOf, healthySnapshot, withObject } from '../../../test/healthy.ts'
import { testPlan } from '../../../test/plan.ts'
import type { KubeObject } from '../../api/object.ts'
import { indexSnapshot, type Snapshot } from '../../api/snapshot.ts'
import { isProved, kindsOfChecks, type VerifyInput, verify } from '../verify.ts'
import { checks } from './all.ts'

const rhoso1 = { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] }
const rhoso2 = { name: 'rhoso2', namespace: 'openstack2' }
const plan = testPlan({ nodes: 2, clouds: [rhoso1, rhoso2] })
const documents = documentsOf(plan)
const healthy = healthySnapshot(plan)

function run(snapshot: Snapshot, more: Partial<VerifyInput> = {}) {
  const { unread } = snapshot
  return verify(checks, { plan, documents, live: indexSnapshot(snapshot), unread, now: 0, ...more })
}

/** What is wrong: `check cloud CODE place`, so that a check that fires for another reason is seen. */
function wrong(snapshot: Snapshot, more: Partial<VerifyInput> = {}): readonly string[] {
  return run(snapshot, more).flatMap(({ id, cloud, findings }) =>
    findings.map(({ code, where }) => {
      const place = where && 'kind' in where ? `${where.kind} ${where.namespace ?? ''}/${where.name}` : ''
      return [id, cloud ?? '-', code, place].join(' ').trim()
    }),
  )
}

function spec(change: (spec: Record<string, unknown>) => Record<string, unknown>) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    spec: change(object['spec'] as Record<string, unknown>),
  })
}

function annotated(annotations: Record<string, string>) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
  })
}

function held(...ips: readonly string[]) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  })
}

const metallb = (kind: string, name: string, content: object): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind,
  metadata: { name, namespace: 'metallb-system' },
  spec: content,
})

describe('a healthy cluster', () => {
  it('passes every check, and every check has looked at something', () => {
    expect(wrong(healthy)).toEqual([])
    const results = run(healthy)
    expect(isProved(results)).toBe(true)
    expect(results.filter(({ seen }) => /^(the scope of )?0 /.test(seen))).toEqual([])
  })

  it('is judged cloud by cloud, or one cloud alone', () => {
    const clouds = (names?: readonly string[]) =>
      new Set(run(healthy, names ? { clouds: names } : {}).map(({ cloud }) => cloud))
    expect(clouds()).toEqual(new Set([undefined, 'rhoso1', 'rhoso2']))
    expect(clouds(['rhoso2'])).toEqual(new Set([undefined, 'rhoso2']))
  })

  it("has the checks of the design document's verification by their names", () => {
    const titles = checks.map(({ title }) => title)
    expect(titles).toEqual(
      expect.arrayContaining([
        'All IPAddressPools',
        'Namespace Scoping',
        'L2Advertisements',
        'Service IP Allocation',
      ]),
    )
  })

  it('is judged by checks that each have a name of their own', () => {
    expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  })
})

describe('an empty cluster', () => {
  it('fails what must be there, and is not taken for healthy', () => {
    const failed = run({ objects: [], unread: [] }).filter(({ verdict }) => verdict === 'failed')
    const ids = new Set(failed.map(({ id }) => id))
    expect([...ids]).toEqual([
      'node-policies',
      'ipaddresspools',
      'l2advertisements',
      'service-ip-allocation',
      'network-attachments',
      'netconfig',
    ])
  })
})

describe('a kind that could not be read', () => {
  it('leaves its checks unproved, which is no success', () => {
    const unread = [{ apiVersion: 'v1', kind: 'Service', reason: 'forbidden', cause: 'forbidden' as const }]
    const results = run({ ...healthy, unread }, { clouds: ['rhoso1'] })
    const unknown = results.filter(({ verdict }) => verdict === 'unknown').map(({ id }) => id)
    expect(unknown).toEqual([
      'room',
      'service-ip-allocation',
      'foreign-holders',
      'sharing-keys',
      'dns-names',
      'keystone-endpoints',
    ])
    expect(isProved(results)).toBe(false)
  })

  it('is fine where the cluster does not have the kind at all', () => {
    const unread = [
      { apiVersion: 'route.openshift.io/v1', kind: 'Route', reason: 'none', cause: 'not-served' as const },
    ]
    expect(wrong({ ...healthy, unread })).toEqual([])
  })

  it('is one that somebody asked for', () => {
    expect(kindsOfChecks(checks).map(({ kind }) => kind)).toContain('IPPool')
  })
})

const pool = 'IPAddressPool metallb-system/openstack-internalapi'
const keystone = 'Service openstack/keystone-internal'

describe('each check finds its fault and names the object', () => {
  const cases: readonly (readonly [string, Snapshot, readonly string[]])[] = [
    [
      'a pool with another range',
      changed(
        healthy,
        pool,
        spec((old) => ({ ...old, addresses: ['172.17.0.80-172.17.0.95'] })),
      ),
      ['ipaddresspools rhoso1 SL9003 IPAddressPool metallb-system/openstack-internalapi'],
    ],
    [
      'a pool that is gone',
      changed(healthy, pool, () => undefined),
      ['ipaddresspools rhoso1 SL9002 IPAddressPool metallb-system/openstack-internalapi'],
    ],
    [
      "a stranger's pool with addresses of this cloud",
      withObject(healthy, metallb('IPAddressPool', 'lab', { addresses: ['172.17.0.88-172.17.0.99'] })),
      ['ipaddresspools rhoso1 SL9012 IPAddressPool metallb-system/lab'],
    ],
    [
      'a pool without a scope',
      changed(
        healthy,
        pool,
        spec((old) => ({ ...old, serviceAllocation: undefined })),
      ),
      ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
    ],
    [
      'a pool for two namespaces',
      changed(
        healthy,
        pool,
        spec((old) => ({ ...old, serviceAllocation: { namespaces: ['openstack', 'openstack2'] } })),
      ),
      ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
    ],
    [
      'a pool that a selector widens',
      changed(
        healthy,
        pool,
        spec((old) => ({
          ...old,
          serviceAllocation: { namespaces: ['openstack'], namespaceSelectors: [{ matchLabels: { a: 'b' } }] },
        })),
      ),
      ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
    ],
    [
      'an advertisement on another interface',
      changed(
        healthy,
        'L2Advertisement metallb-system/openstack-internalapi',
        spec((old) => ({ ...old, interfaces: ['enp6s0'] })),
      ),
      ['l2advertisements rhoso1 SL9003 L2Advertisement metallb-system/openstack-internalapi'],
    ],
    [
      'an advertisement of everything everywhere',
      withObject(healthy, metallb('L2Advertisement', 'all', {})),
      [
        'l2advertisements rhoso1 SL9013 L2Advertisement metallb-system/all',
        'l2advertisements rhoso2 SL9013 L2Advertisement metallb-system/all',
      ],
    ],
    [
      'a Service without its address',
      changed(healthy, 'Service openstack/rabbitmq', held()),
      ['service-ip-allocation rhoso1 SL9021 Service openstack/rabbitmq'],
    ],
    [
      "a Service with another Service's address",
      changed(healthy, keystone, held('172.17.0.85')),
      ['service-ip-allocation rhoso1 SL9022 Service openstack/keystone-internal'],
    ],
    [
      'a Service with an address of a pool that is not its own',
      changed(healthy, keystone, annotated({ 'metallb.io/ip-allocated-from-pool': 'internalapi' })),
      ['service-ip-allocation rhoso1 SL9023 Service openstack/keystone-internal'],
    ],
    [
      'a VIP that nobody holds',
      changed(healthy, 'Service openstack/rabbitmq', () => undefined),
      ['service-ip-allocation rhoso1 SL9024'],
    ],
    [
      "a Service that holds another cloud's address",
      changed(healthy, 'Service openstack2/rabbitmq', held('172.17.1.85', '172.17.0.90')),
      [
        'foreign-holders rhoso1 SL9025 Service openstack2/rabbitmq',
        'service-ip-allocation rhoso2 SL9022 Service openstack2/rabbitmq',
      ],
    ],
    [
      'a sharing key in two clouds',
      changed(
        healthy,
        'Service openstack2/keystone-internal',
        annotated({ 'metallb.io/allow-shared-ip': 'openstack-internalapi-internal' }),
      ),
      [
        'sharing-keys rhoso1 SL9026 Service openstack2/keystone-internal',
        expect.stringMatching(/^sharing-keys rhoso2 SL9026 Service openstack\//) as unknown as string,
      ],
    ],
    [
      'an attachment on another master',
      changed(
        healthy,
        'NetworkAttachmentDefinition openstack/storage',
        spec(({ config }) => ({ config: String(config).replace('enp6s0.21', 'enp6s0.31') })),
      ),
      ['network-attachments rhoso1 SL9003 NetworkAttachmentDefinition openstack/storage'],
    ],
    [
      'a NetConfig with another range',
      changed(
        healthy,
        'NetConfig openstack/netconfig',
        spec(() => ({ networks: [{ name: 'ctlplane', dnsDomain: 'x', subnets: [] }] })),
      ),
      expect.arrayContaining([
        'netconfig rhoso1 SL9003 NetConfig openstack/netconfig',
      ]) as unknown as string[],
    ],
    [
      'a pod address outside its span',
      changed(
        healthy,
        'IPPool kube-system/openstack-internalapi-172.17.0.0-24',
        spec((old) => ({ ...old, allocations: { 85: { podref: 'openstack/glance-0' } } })),
      ),
      ['whereabouts-pools rhoso1 SL9031 IPPool kube-system/openstack-internalapi-172.17.0.0-24'],
    ],
    [
      'a pod of another cloud in this subnet',
      changed(
        healthy,
        'IPPool kube-system/openstack-internalapi-172.17.0.0-24',
        spec((old) => ({ ...old, allocations: { 31: { podref: 'openstack2/glance-0' } } })),
      ),
      ['whereabouts-pools rhoso1 SL9032 IPPool kube-system/openstack-internalapi-172.17.0.0-24'],
    ],
    [
      'a Reservation in the span of the pods',
      changed(
        healthy,
        'Reservation openstack/edpm-compute-0',
        spec(() => ({ reservation: { InternalApi: { address: '172.17.0.31' } } })),
      ),
      ['reservations rhoso1 SL9033 Reservation openstack/edpm-compute-0'],
    ],
    [
      'a pod that lacks a network',
      changed(
        healthy,
        'Pod openstack/glance-0',
        annotated({ 'k8s.v1.cni.cncf.io/networks': 'datacentre@net9' }),
      ),
      ['pod-networks rhoso1 SL9034 Pod openstack/glance-0'],
    ],
    [
      "a pod with another cloud's address",
      changed(
        healthy,
        'Pod openstack/glance-0',
        annotated({
          'k8s.v1.cni.cncf.io/networks': 'storage',
          'k8s.v1.cni.cncf.io/network-status': '[{"name":"openstack/storage","ips":["172.18.1.30"]}]',
        }),
      ),
      ['pod-networks rhoso1 SL9035 Pod openstack/glance-0'],
    ],
    [
      'a policy of an older generation',
      changed(healthy, 'NodeNetworkConfigurationPolicy openstack-worker-0', (policy) => ({
        ...policy,
        metadata: { ...policy.metadata, generation: 2 },
      })),
      ['node-policies - SL9041 NodeNetworkConfigurationPolicy /openstack-worker-0'],
    ],
    [
      'a record that leads elsewhere',
      changed(
        healthy,
        'DNSData openstack/dnsmasq-dns-svc',
        spec(() => ({ hosts: [{ ip: '172.17.0.99', hostnames: ['keystone-internal.openstack.svc'] }] })),
      ),
      ['dns-names rhoso1 SL9051 DNSData openstack/dnsmasq-dns-svc'],
    ],
    [
      'an internal endpoint without its Service',
      changed(
        healthy,
        'KeystoneEndpoint openstack/keystone',
        spec(() => ({ endpoints: { internal: 'https://nobody.openstack.svc:5000' } })),
      ),
      ['keystone-endpoints rhoso1 SL9061 KeystoneEndpoint openstack/keystone'],
    ],
    [
      'a public endpoint without its Route',
      changed(
        healthy,
        'KeystoneEndpoint openstack/keystone',
        spec(() => ({ endpoints: { public: 'https://keystone-public-openstack.apps.other.com' } })),
      ),
      ['keystone-endpoints rhoso1 SL9061 KeystoneEndpoint openstack/keystone'],
    ],
    [
      "endpoints that name another cloud's Service, Route and address",
      changed(
        healthy,
        'KeystoneEndpoint openstack/keystone',
        spec(() => ({
          endpoints: {
            internal: 'https://keystone-internal.openstack2.svc:5000',
            public: 'https://keystone-public-openstack2.apps.example.com',
            admin: 'http://172.17.1.80:5000',
          },
        })),
      ),
      Array<string>(3).fill('keystone-endpoints rhoso1 SL9062 KeystoneEndpoint openstack/keystone'),
    ],
    [
      'a shop that holds nearly all addresses of a span',
      withObject(healthy, {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', namespace: 'shop' },
        spec: { type: 'LoadBalancer' },
        status: {
          loadBalancer: {
            ingress: [81, 82, 83, 84, 87, 88, 89, 90, 86].map((at) => ({ ip: `172.17.0.${at}` })),
          },
        },
      }),
      ['room - SL9204', ...Array<string>(9).fill('foreign-holders rhoso1 SL9025 Service shop/web')],
    ],
    [
      'a pool without a prefix',
      withObject(healthy, metallb('IPAddressPool', 'internalapi', { addresses: ['10.9.9.1-10.9.9.9'] })),
      ['leftovers - SL9071 IPAddressPool metallb-system/internalapi'],
    ],
    [
      "another tool's advertisement",
      withObject(
        healthy,
        metallb('L2Advertisement', 'internalapi-openstack', { ipAddressPools: ['internalapi'] }),
      ),
      ['leftovers - SL9071 L2Advertisement metallb-system/internalapi-openstack'],
    ],
    [
      'an object of a cloud that is gone',
      changed(
        withObject(healthy, metallb('IPAddressPool', 'gone-storage', { addresses: ['10.9.9.1-10.9.9.9'] })),
        'IPAddressPool metallb-system/gone-storage',
        (object) => ({
          ...object,
          metadata: {
            ...object.metadata,
            labels: {
              'app.kubernetes.io/managed-by': 'stackloom',
              'app.kubernetes.io/part-of': 'lab',
              'stackloom.dev/cloud': 'gone',
            },
          },
        }),
      ),
      ['leftovers - SL9071 IPAddressPool metallb-system/gone-storage'],
    ],
  ]

  it.each(cases)('%s', (_, snapshot, expected) => {
    expect(wrong(snapshot)).toEqual(expected)
  })

  it('and there is a case for every check', () => {
    const fired = new Set(cases.flatMap(([, snapshot]) => wrong(snapshot)).map((one) => one.split(' ')[0]))
    expect(checks.map(({ id }) => id).filter((id) => !fired.has(id))).toEqual([])
  })
})

describe("a cloud's DNS server", () => {
  const server = '192.168.122.80'
  const all = (address: string) => ({
    dns: new Map([
      ['rhoso1', { server, answers: new Map([['keystone-internal.openstack.svc', [address]]]) }],
    ]),
  })

  it('must know every name, with the planned address', () => {
    const results = run(healthy, all('172.17.0.80'))
    const messages = results.flatMap(({ findings }) => findings.map(({ message }) => message))
    expect(messages).not.toContainEqual(expect.stringContaining('keystone-internal.openstack.svc'))
    expect(messages).toContainEqual(
      `${server} answers nothing for placement-internal.openstack.svc, planned is 172.17.0.80`,
    )
  })

  it('must not answer with another address', () => {
    const [first] = run(healthy, all('172.17.1.80'))
      .flatMap(({ findings }) => findings)
      .filter(({ message }) => message.includes('keystone-internal'))
    expect(first?.message).toBe(
      `${server} answers 172.17.1.80 for keystone-internal.openstack.svc, planned is 172.17.0.80`,
    )
  })

  it('that does not answer this machine is a warning', () => {
    const dns = new Map([['rhoso1', { server, unreachable: 'timeout', answers: new Map() }]])
    expect(wrong(healthy, { dns })).toEqual(['dns-names rhoso1 SL9053'])
    expect(isProved(run(healthy, { dns }))).toBe(true)
  })
})

it('the scope finding carries the very command that repairs it', () => {
  const open = changed(
    healthy,
    pool,
    spec((old) => ({ ...old, serviceAllocation: undefined })),
  )
  const [found] = run(open).flatMap(({ findings }) => findings)
  expect(found?.remedy).toContain(
    `patch ipaddresspool openstack-internalapi --type merge -p '{"spec":{"serviceAllocation":{"namespaces":["openstack"]}}}'`,
  )
})
